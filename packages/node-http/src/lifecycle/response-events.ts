import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { onCarrierClose } from '@sluice/http'

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

/**
 * The same for an HTTP/1 response that has its connection, and for that connection. Two events report its end: `finish`,
 * and the `close` of the connection, which all its requests share one listener for. `error` precedes `close`, and a
 * response emits no `end`.
 */
export class ConnectedResponseEvents {
  readonly #res: ServerResponse
  readonly #connection: Socket
  #forgetClose: (() => void) | undefined

  constructor(res: ServerResponse, connection: Socket) {
    this.#res = res
    this.#connection = connection
  }

  get socket(): this {
    return this
  }

  get writable(): boolean {
    return this.#connection.writable
  }

  get writableEnded(): boolean {
    return this.#res.writableEnded
  }

  on(event: string, listener: Listener): void {
    if (event === 'finish') this.#res.on('finish', listener)
    else if (event === 'close') this.#forgetClose = onCarrierClose(this.#connection, listener)
  }

  removeListener(event: string, listener: Listener): void {
    if (event === 'finish') this.#res.removeListener('finish', listener)
    else if (event === 'close') this.#forgetClose?.()
  }
}
