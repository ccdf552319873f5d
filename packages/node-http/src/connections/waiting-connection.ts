import type { Duplex } from 'node:stream'

/**
 * A connection that waits for the decision of its caps. Received data stays in the buffer of the socket, for the
 * `connection` listeners; a full buffer stops the client. A client that resets the connection, or ends its side before
 * it has sent data, has left. A client that has sent data and then ended its side may still read, so it is kept.
 */
export class WaitingConnection {
  readonly #socket: Duplex

  constructor(socket: Duplex) {
    this.#socket = socket
    // the server's listeners are not attached yet, and a reset by the client must not crash the process
    socket.on('error', ignore)
    socket.on('end', this.#left)
  }

  /** Stops waiting. Returns false if the client has left. */
  done(): boolean {
    this.#socket.off('end', this.#left)
    if (this.#socket.destroyed) return false
    this.#socket.off('error', ignore)
    return true
  }

  readonly #left = (): void => {
    this.#socket.destroy()
  }
}

const ignore = (): void => {}
