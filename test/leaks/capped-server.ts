import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { InflightLimiter, InflightLimitOptions } from '@sluice/node-http'
import { until, Watcher } from '@sluice/testkit'
import type { Framework, Handler } from './frameworks/framework.ts'
import { RawClient } from './raw-client.ts'

type CapOptions = Partial<InflightLimitOptions<IncomingMessage, ServerResponse>>

export interface CappedOptions {
  readonly cap?: CapOptions
  /** Whether the cap also waits for the promise that the handler returns. */
  readonly wrapped?: boolean
  /** Async work before the cap. */
  readonly before?: (req: IncomingMessage, res: ServerResponse) => Promise<void>
}

/** A server behind a cap, with everything that its observers received. */
export class CappedServer {
  readonly watcher: Watcher = new Watcher()
  readonly server: Server
  /** Number of requests that reached the handler, and how many of them are still running. */
  entered = 0
  readonly clients: RawClient[] = []
  /** Open connections on the server side. */
  connections = 0
  readonly #limiter: InflightLimiter
  #connected = 0
  #accepted = 0

  static async of(framework: Framework, handler: Handler, options: CappedOptions = {}): Promise<CappedServer> {
    const capped = new CappedServer(framework, handler, options)
    await once(capped.server.listen(0, '127.0.0.1'), 'listening')
    return capped
  }

  private constructor(framework: Framework, handler: Handler, { cap, wrapped, before }: CappedOptions) {
    const limit = framework.inflightLimit({ limit: 1_000, observers: [this.watcher], ...cap })
    this.#limiter = limit.limiter
    const counted: Handler = (req, res) => {
      this.entered++
      return handler(req, res)
    }
    const listener = framework.listener(
      (req, res, next) => {
        if (before) before(req, res).then(next)
        else next()
      },
      ...(wrapped ? [limit.wrap(counted)] : [limit, counted]),
    )
    this.server = createServer(listener).on('connection', (socket) => {
      this.connections++
      this.#accepted++
      socket.once('close', () => this.connections--)
    })
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port
  }

  async client(): Promise<RawClient> {
    const client = await RawClient.to(this.port)
    this.#connected++
    this.clients.push(client)
    return client
  }

  /** Connects a client that sends `text`, and waits until the request has reached the handler. */
  async entering(text: string): Promise<RawClient> {
    const client = await this.client()
    const entered = this.entered
    client.send(text)
    await until(() => this.entered > entered, { what: 'a request that reaches the handler' })
    return client
  }

  /** Waits until all `acquired` permits have been released, and checks that each was released once. */
  async allReleased(acquired: number): Promise<void> {
    const { watcher } = this
    await until(() => watcher.acquired >= acquired && watcher.held <= 0, {
      what: `${watcher.held} held places to come back`,
    })
    this.#exact(acquired)
  }

  /** Waits until no connections and no pending requests of the disconnected clients remain. */
  async quiet(): Promise<void> {
    await until(() => this.#accepted === this.#connected && this.connections === 0, {
      what: 'the end of all connections',
    })
  }

  /** Closes everything, and checks that this released no permit a second time. */
  async close(): Promise<void> {
    const { acquired } = this.watcher
    for (const client of this.clients) client.leave()
    this.server.closeAllConnections()
    this.server.close()
    await once(this.server, 'close')
    await until(() => this.watcher.held <= 0, { what: 'held places to come back' })
    this.#exact(acquired)
  }

  #exact(acquired: number): void {
    const { watcher } = this
    assert.deepEqual(
      { acquired: watcher.acquired, released: watcher.released, fewestHeld: watcher.fewestHeld },
      { acquired, released: acquired, fewestHeld: 0 },
    )
    assert.equal(this.#limiter.count(), 0)
  }
}
