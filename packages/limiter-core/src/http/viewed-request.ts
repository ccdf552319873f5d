import type { ObservedRequest, RequestView } from '../contracts.ts'

/** A request as observers see it: an adapter works out what they read. */
export class ViewedRequest implements ObservedRequest {
  readonly view: RequestView

  constructor(view: RequestView) {
    this.view = view
  }

  get route(): string | undefined {
    return this.view.route
  }

  get method(): string {
    return this.view.method
  }

  get request(): unknown {
    return this.view.raw
  }
}
