import { connect, type Socket } from 'node:net'
import { DelayedBytes, type PathFaults } from './delayed-bytes.ts'

export interface ProxyLinkOptions {
  readonly faults: () => PathFaults
  readonly random: () => number
  readonly onClose: () => void
}

/** One connection through a `TcpProxy`: the client socket and a socket to the server. */
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
      // reported by its close event
      socket.on('error', () => {})
      socket.once('close', (hadError) => this.#closed(hadError))
    }
  }

  /** Drops all data from now on, without a notification to either end. */
  swallow(): void {
    for (const way of this.#ways) way.swallow()
  }

  /** Requests of the client arrive, and their answers are dropped. */
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

  /** One end has closed: closes the other end, unless the close is lost on its way. */
  #closed(hadError: boolean): void {
    if (this.#ways.some((way) => way.isSwallowing)) return
    this.cut(hadError ? 'reset' : 'end')
  }
}
