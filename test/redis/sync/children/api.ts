// One process of a fleet: an Express API with shared limits, clients that send requests over HTTP, and a record of the
// answers. Times are in epoch milliseconds of monotonic clocks.
import { once } from 'node:events'
import { Agent, createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { rateLimit } from '@sluice/express'
import { createRedis, type SyncedBackendOptions, syncedBackend } from '@sluice/redis'
import express from 'express'
import { OpenLoop } from '../../../faults/children/open-loop.ts'
import { StallWatch } from '../../../faults/children/stall-watch.ts'

export interface ApiOptions extends SyncedBackendOptions {
  /** Port of Redis. */
  readonly url: string
  /** Limit of all keys of `busy`. */
  readonly limit: number
  readonly windowMs: number
  /** Limit of the key of `full`, per hour. */
  readonly fullLimit: number
}

type Route = 'busy' | 'full'

export interface Noted {
  readonly route: Route
  /** When the limiter was called. */
  readonly at: number
  readonly allowed: boolean
}

export interface Exchange {
  readonly requestedAt: number
  readonly endedAt: number
  readonly failed: boolean
}

export interface Report {
  readonly decisions: readonly Noted[]
  /** Calls to Redis that reported usage. */
  readonly exchanges: readonly Exchange[]
  /** Slowest time from a request to its answer, without stalls of this process. */
  readonly slowestMs: number
  /** Number of answers other than 200 and 429. */
  readonly failed: number
  readonly unhandled: readonly string[]
}

const agent = new Agent({ keepAlive: true })
const decisions: Noted[] = []
const exchanges: Exchange[] = []
const unhandled: string[] = []
const watch = new StallWatch()
let crowd: OpenLoop | undefined
let port = 0
let slowestMs = 0
let failed = 0

process.on('unhandledRejection', (error) => unhandled.push(String(error)))

export async function open({ url, limit, windowMs, fullLimit, ...options }: ApiOptions): Promise<void> {
  const client = createRedis(url)
  if (client.status !== 'ready') await once(client, 'ready')
  watchExchanges(client)
  const backend = syncedBackend(client, options)
  const app = express()
  const all = { backend, key: () => 'all' }
  app.use('/busy', noted('busy'), rateLimit({ ...all, name: 'busy', limit, window: windowMs, slices: 20 }))
  app.use('/full', noted('full'), rateLimit({ ...all, name: 'full', limit: fullLimit, window: '1h', slices: 20 }))
  app.use((_req, res) => {
    res.end()
  })
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
}

/** Starts sending requests: every twentieth goes to `full`. */
export function start(perSecond: number): void {
  crowd = new OpenLoop(perSecond, (index) => ask(index % 20 === 0 ? 'full' : 'busy'))
}

/** Records since the last report. */
export function report(): Report {
  const told = { decisions: decisions.splice(0), exchanges: exchanges.splice(0), slowestMs, failed, unhandled }
  slowestMs = 0
  return told
}

export function stop(): void {
  crowd?.stop()
}

/** Records each request before its limiter, and its result. */
function noted(route: Route): express.RequestHandler {
  return (_req, res, next) => {
    const at = epochNow()
    res.once('finish', () => decisions.push({ route, at, allowed: res.statusCode === 200 }))
    next()
  }
}

function ask(route: Route): void {
  const from = performance.now()
  const request = get({ port, host: '127.0.0.1', path: `/${route}`, agent }, (response) => {
    const to = performance.now()
    slowestMs = Math.max(slowestMs, to - from - watch.within(from, to))
    if (response.statusCode !== 200 && response.statusCode !== 429) failed++
    response.resume()
  })
  request.on('error', () => failed++)
}

/** Records the calls of a client that report usage. Their script has the marker of a process as its first key. */
function watchExchanges(client: ReturnType<typeof createRedis>): void {
  const evalsha = client.evalsha.bind(client) as (...args: unknown[]) => Promise<unknown>
  const watched = (...args: unknown[]): Promise<unknown> => {
    const requestedAt = epochNow()
    const answer = evalsha(...args)
    if (String(args[2]).includes(':sync:nodes')) return answer
    const note = (failed: boolean) => () => void exchanges.push({ requestedAt, endedAt: epochNow(), failed })
    answer.then(note(false), note(true))
    return answer
  }
  Object.assign(client, { evalsha: watched })
}

function epochNow(): number {
  return performance.timeOrigin + performance.now()
}
