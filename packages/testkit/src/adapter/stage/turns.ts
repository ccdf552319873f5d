import type { Handler } from './app-description.ts'
import type { Asked } from './client.ts'
import { ok } from './stage.ts'
import { until } from './until.ts'

/** A handler whose requests wait until the test finishes them, in the order in which they arrived. */
export class Turns {
  /** The header `x-name` of the requests that reached the handler. */
  readonly admitted: string[] = []
  readonly #finish: (() => void)[] = []

  readonly handler: Handler = ({ request }) => {
    this.admitted.push(request.header('x-name') ?? '')
    return new Promise((resolve) => {
      this.#finish.push(() => resolve(ok()))
    })
  }

  /** Responds to the first request that has no response. */
  finish(): void {
    this.#finish.shift()?.()
  }

  async reached(requests: number): Promise<void> {
    await until(() => this.admitted.length >= requests, { what: `request ${requests} to reach the handler` })
  }

  /** Responds to all requests, until `requests` have reached the handler. */
  async finishAll(requests: number): Promise<void> {
    for (let request = 1; request <= requests; request++) {
      await this.reached(request)
      this.finish()
    }
  }
}

/** A request with a name, a priority and a client. */
export function named(name: string, priority = 'normal', client: string = name): Asked {
  return { headers: { 'x-name': name, 'x-priority': priority, 'x-client': client } }
}
