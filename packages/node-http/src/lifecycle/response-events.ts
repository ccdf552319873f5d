import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Listener = (...args: unknown[]) => void

/** The parts that on-finished uses of a response that is not one of Node's. It adds a property to its argument. */
export class ResponseEvents {
  readonly #res: ServerResponse

  constructor(res: ServerResponse) {
    this.#res = res
  }

  get socket(): Socket | null {
    return this.#res.socket
  }

  // on-finished takes a response without this property, such as an event emitter of a test, for finished
  get writableEnded(): boolean {
    return this.#res.writableEnded === true
  }

  on(event: string, listener: Listener): void {
    this.#res.on(event, listener)
  }

  removeListener(event: string, listener: Listener): void {
    this.#res.removeListener(event, listener)
  }
}
