import type { Duplex } from 'node:stream'

/** More than this is left in the socket, so that a client cannot fill memory while it waits. */
const MOST_BYTES = 64 * 1024

/**
 * A socket whose upgrade is not decided yet. It is read, since nothing else shows that a client has left, and what came
 * is kept for the listener. A client that has ended its side is gone.
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

  /** Waits no longer. Returns what came so far: the head, and all that was read behind it. */
  done(): Buffer {
    this.#socket.off('readable', this.#keep)
    this.#socket.off('end', this.#left)
    return this.#kept.length === 1 ? this.#kept[0] : Buffer.concat(this.#kept)
  }

  readonly #keep = (): void => {
    while (this.#bytes < MOST_BYTES) {
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
