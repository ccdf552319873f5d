import type { Duplex } from 'node:stream'

/**
 * A connection of which nobody knows yet whether it may be served. Nothing but the socket's own buffer takes what the
 * client sends: it stays there for whoever is told of the connection, and a full one stops the client. A client that
 * resets, or ends its side before it said anything, is gone; one that spoke and ended its side may still read, and whoever
 * is told of the connection finds out.
 */
export class WaitingConnection {
  readonly #socket: Duplex

  constructor(socket: Duplex) {
    this.#socket = socket
    // nobody else listens yet, and a client that resets must not end the process
    socket.on('error', ignore)
    socket.on('end', this.#left)
  }

  /** Waits no longer. False where the client is gone. */
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
