import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type SlowDownHandle, type SlowDownOptions, slowDown } from '@sluice/node-http'
import { FakeClock, until, Watcher } from '@sluice/testkit'
import { RawClient } from '../leaks/raw-client.ts'

type Options = Partial<SlowDownOptions<IncomingMessage, ServerResponse>>
type Handler = (req: IncomingMessage, res: ServerResponse) => void

/** A server that delays every request, on its own clock. */
export class SlowedServer {
  readonly clock: FakeClock = new FakeClock()
  readonly watcher: Watcher = new Watcher()
  readonly limit: SlowDownHandle
  readonly server: Server
  /** Paths that reached the handler, in order. */
  readonly handled: string[] = []
  readonly responses: ServerResponse[] = []
  readonly #clients: RawClient[] = []

  static async of(
    options: Options = {},
    handler: Handler = (req, res) => void res.end(req.url),
  ): Promise<SlowedServer> {
    const slowed = new SlowedServer(options, handler)
    await once(slowed.server.listen(0, '127.0.0.1'), 'listening')
    return slowed
  }

  private constructor(options: Options, handler: Handler) {
    const { clock, watcher } = this
    const all = { after: 0, window: '1h', delayMs: 100, maxDelayMs: 100, clock, observers: [watcher], ...options }
    const limit = slowDown(all as SlowDownOptions<IncomingMessage, ServerResponse>)
    this.limit = limit
    this.server = createServer((req, res) => {
      this.responses.push(res)
      limit(req, res, () => {
        this.handled.push(req.url ?? '')
        handler(req, res)
      })
    })
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port
  }

  async client(): Promise<RawClient> {
    const client = await RawClient.to(this.port)
    this.#clients.push(client)
    return client
  }

  /** A client whose requests for these paths wait on one connection. */
  async waitingFor(...paths: readonly string[]): Promise<RawClient> {
    const before = this.limit.waiting()
    const client = await this.client()
    client.send(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''))
    await this.waits(before + paths.length)
    return client
  }

  waits(requests: number): Promise<void> {
    return until(() => this.limit.waiting() === requests && this.clock.pending === requests, {
      what: `${requests} requests and timers that wait, there are ${this.limit.waiting()} and ${this.clock.pending}`,
      timeoutMs: 20_000,
    })
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.leave()
    this.server.closeAllConnections()
    if (!this.server.listening) return
    this.server.close()
    await once(this.server, 'close')
  }
}
