import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ClientHttp2Session, type ClientHttp2Stream, connect, createServer, type Http2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { until, Watcher } from '@sluice/testkit'
import type { Framework, Handler } from './framework.ts'

/** The frameworks in the leak table that support HTTP/2 with Node's server. */
export const overHttp2: readonly string[] = ['node:http', 'Koa 3', 'Koa 2', 'Fastify 5', 'Fastify 4']

type Before = (req: IncomingMessage, res: ServerResponse) => Promise<unknown>

/** An HTTP/2 server behind a cap, with one client session. */
export class Http2Site {
  readonly watcher: Watcher = new Watcher()
  /** The `isComplete` values that settle received. */
  readonly completed: boolean[] = []
  readonly server: Http2Server
  entered = 0
  working = 0
  session!: ClientHttp2Session

  constructor({ rateLimit, inflightLimit, listener }: Framework, handler: Handler, before: Before = async () => {}) {
    const settle = (_req: unknown, _res: unknown, { completed }: { completed: boolean }): number => {
      this.completed.push(completed)
      return 1
    }
    // a key by address would warn about a client whose session is closed
    const key = (): string => 'all'
    const limit = rateLimit({ limit: 1_000, window: '1m', key, cost: { reserve: 1, settle, settleOn: 'always' } })
    const steps = listener(
      (req, res, next) => {
        this.working++
        before(req, res).then(() => next())
      },
      limit,
      inflightLimit({ limit: 1_000, observers: [this.watcher] }),
      (req, res) => {
        this.entered++
        handler(req, res)
      },
    )
    this.server = createServer(steps as never)
    this.server.on('sessionError', () => {})
  }

  async open(): Promise<this> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening')
    this.session = connect(`http://127.0.0.1:${(this.server.address() as AddressInfo).port}`)
    this.session.on('error', () => {})
    await once(this.session, 'connect')
    return this
  }

  ask(headers: Record<string, string> = {}, endStream = true): ClientHttp2Stream {
    const stream = this.session.request({ ':path': '/', ...headers }, { endStream })
    stream.on('error', () => {})
    return stream.resume()
  }

  async released(acquired: number): Promise<void> {
    await until(() => this.watcher.acquired >= acquired && this.watcher.held === 0, {
      what: 'held places to come back',
    })
    const { watcher } = this
    assert.deepEqual([watcher.acquired, watcher.released, watcher.fewestHeld], [acquired, acquired, 0])
  }

  async close(): Promise<void> {
    this.session.destroy()
    this.server.close()
    await once(this.server, 'close')
    await until(() => this.watcher.held === 0, { what: 'held places to come back' })
    assert.equal(this.watcher.fewestHeld, 0)
  }
}
