import type { Duplex } from 'node:stream'

/** Further data stays in the socket, so that a waiting client cannot fill memory. */
const MAX_KEPT_BYTES = 64 * 1024

/**
 * A socket whose upgrade is not decided yet. It is read, because only reading shows that a client has left; the data is
 * kept for the listener. A client that ends its side counts as gone.
 */
export class WaitingSocket {
  readonly #socket: Duplex
  readonly #kept: Buffer[]
  #bytes: number

  constructor(socket: Duplex, head: Buffer) {
    this.#socket = socket
    this.#kept = [head]
    this.#bytes = head.length
    socket.on('readable', this.#keep)
    socket.on('end', this.#left)
  }

  /** Stops waiting. Returns the data received so far: the head and everything read after it. */
  done(): Buffer {
    this.#socket.off('readable', this.#keep)
    this.#socket.off('end', this.#left)
    return this.#kept.length === 1 ? this.#kept[0] : Buffer.concat(this.#kept)
  }

  readonly #keep = (): void => {
    while (this.#bytes < MAX_KEPT_BYTES) {
      const chunk: Buffer | null = this.#socket.read()
      if (chunk === null) return
      this.#kept.push(chunk)
      this.#bytes += chunk.length
    }
  }

  readonly #left = (): void => {
    this.#socket.destroy()
  }
}
