import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Listener = (...args: unknown[]) => void

/**
 * The parts of a response that on-finished uses. It adds a property to its argument. Express replaces the prototype of
 * each response, and V8 before version 12 then creates a new hidden class for each property that is added: 3 µs and
 * 1 KB.
 */
export class ResponseEvents {
  readonly #res: ServerResponse

  constructor(res: ServerResponse) {
    this.#res = res
  }

  get socket(): Socket | null {
    return this.#res.socket
  }

  get writableEnded(): boolean {
    return this.#res.writableEnded
  }

  on(event: string, listener: Listener): void {
    this.#res.on(event, listener)
  }

  removeListener(event: string, listener: Listener): void {
    this.#res.removeListener(event, listener)
  }
}
