import { connect, type Socket } from 'node:net'
import { DelayedBytes, type PathFaults } from './delayed-bytes.ts'

export interface ProxyLinkOptions {
  readonly faults: () => PathFaults
  readonly random: () => number
  readonly onClose: () => void
}

/** One connection through a `TcpProxy`: the socket of the client, and one to the server. */
export class ProxyLink {
  readonly #client: Socket
  readonly #server: Socket
  readonly #ways: readonly DelayedBytes[]
  readonly #onClose: () => void

  constructor(client: Socket, port: number, { faults, random, onClose }: ProxyLinkOptions) {
    this.#client = client
    this.#server = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    this.#onClose = onClose
    this.#ways = [
      new DelayedBytes(client, this.#server, faults, random),
      new DelayedBytes(this.#server, client, faults, random),
    ]
    for (const socket of [this.#client, this.#server]) {
      // told by its end
      socket.on('error', () => {})
      socket.once('close', (hadError) => this.#closed(hadError))
    }
  }

  /** Nothing goes through it any more, and neither end hears of that. */
  swallow(): void {
    for (const way of this.#ways) way.swallow()
  }

  /** What the client sends arrives, and no answer comes back. */
  swallowAnswers(): void {
    this.#ways[1]?.swallow()
  }

  halfClose(): void {
    this.#client.end()
  }

  cut(how: 'reset' | 'end'): void {
    this.swallow()
    if (how === 'reset') this.#client.resetAndDestroy()
    else this.#client.destroySoon()
    this.#server.destroy()
    this.#onClose()
  }

  /** One end is gone: so is the other, unless the news is lost on its way. */
  #closed(hadError: boolean): void {
    if (this.#ways.some((way) => way.isSwallowing)) return
    this.cut(hadError ? 'reset' : 'end')
  }
}
