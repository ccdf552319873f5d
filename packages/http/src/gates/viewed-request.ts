import type { ObservedRequest, RequestView } from '@sluice/limiter-core/http'

/** Request passed to observers. Properties are read from the view on access, because adapters may compute them. */
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
