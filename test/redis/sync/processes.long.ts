import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { epochNow, lasting } from '../../faults/fleet.ts'
import { eventually } from '../../services/eventually.ts'
import { type ChildNode, startNode } from '../../services/processes/child-node.ts'
import { startProxy, type TcpProxy } from '../../services/proxies/tcp-proxy.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { Reports } from './reports.ts'

type Api = ChildNode<typeof import('./children/api.ts')>

const PROCESSES = 4
const LIMIT = 400
const WINDOW_MS = 10_000
/** Limit of a key that is exhausted after two seconds, and stays exhausted. */
const FULL_LIMIT = 40
/** Ten times the limit. */
const PER_SECOND = (10 * LIMIT * 1_000) / WINDOW_MS
const STALL_MS = 2_000
/** Maximum on an idle machine. If exchanges are slower, more may be admitted in proportion to the requests. */
const MOST = 1.35
/** If an exchange takes longer than this, the machine was too busy for a valid measurement. */
const BUSY_MS = 1_000

let server: RedisServer
let proxy: TcpProxy
let apis: Api[]
const reports = new Reports()

beforeAll(async () => {
  server = await startRedis()
  proxy = await startProxy(server.port)
  proxy.degrade({ delayMs: 10 })
  apis = Array.from({ length: PROCESSES }, () => startNode('redis/sync/children/api.ts'))
  const options = { limit: LIMIT, windowMs: WINDOW_MS, fullLimit: FULL_LIMIT, nodes: PROCESSES }
  // two of them have 20 ms more latency
  const urls = [server.url, proxy.url]
  await Promise.all(apis.map((api, index) => api.call('open', { ...options, url: urls[index % 2] })))
}, 60_000)

afterAll(async () => {
  await Promise.all(apis.map((api) => api.stop()))
  await proxy.stop()
  await server.stop()
})

test('four processes at ten times their limit keep it, through a stall and an empty restart of Redis', async () => {
  await Promise.all(apis.map((api) => api.call('start', PER_SECOND / PROCESSES)))
  await lasting(2 * WINDOW_MS)
  await collect()
  firstAndSteady()
  const stalledAt = await stalls()
  await restartsEmpty()
  throughStall(stalledAt)
  process.stdout.write(`slowest answer ${reports.slowestMs.toFixed(0)} ms\n`)
  expect(reports.slowestMs).toBeLessThan(STALL_MS / 2)
  expect([reports.failed, reports.unhandled]).toEqual([0, []])
}, 120_000)

async function collect(): Promise<void> {
  reports.add(await Promise.all(apis.map((api) => api.call('report'))))
}

function firstAndSteady(): void {
  const { startedAt } = reports
  const first = reports.admitted('busy', startedAt, startedAt + WINDOW_MS) / LIMIT
  const reachedAt = reports.reachedAt('busy', LIMIT, startedAt)
  const newsMs = reports.slowestNews(startedAt, reachedAt)
  const bound = 1 + reports.asked('busy', reachedAt, reachedAt + newsMs) / LIMIT
  const steady = reports.admitted('busy', startedAt + WINDOW_MS, startedAt + 2 * WINDOW_MS) / LIMIT
  process.stdout.write(
    `first window ${first}, all knew within ${newsMs.toFixed(0)} ms (at most ${bound}); next ${steady}\n`,
  )
  expect(first).toBeLessThanOrEqual(Math.max(MOST, bound))
  expect(steady).toBeGreaterThanOrEqual(0.9)
  expect(steady).toBeLessThanOrEqual(newsMs < BUSY_MS ? 1.1 : bound)
}

/** Pauses Redis just when units become available. Returns when the stall began. */
async function stalls(): Promise<number> {
  const from = epochNow()
  const isFree = async (): Promise<boolean> => {
    await collect()
    return reports.admitted('busy', from, Number.POSITIVE_INFINITY) > LIMIT / 20
  }
  await eventually(isFree, { what: 'a window that begins anew' })
  const stalledAt = epochNow()
  server.pause()
  await lasting(STALL_MS)
  server.resume()
  return stalledAt
}

function throughStall(stalledAt: number): void {
  const most = reports.most('busy', WINDOW_MS, stalledAt - WINDOW_MS, stalledAt + WINDOW_MS) / LIMIT
  const bound = 1 + reports.askedUnnoticed('busy', stalledAt) / LIMIT
  process.stdout.write(`stall: ${most} (at most ${bound})\n`)
  expect(most).toBeLessThanOrEqual(Math.max(MOST, bound))
}

async function restartsEmpty(): Promise<void> {
  // every process has received the usage of the others again
  await lasting(2_000)
  const killedAt = epochNow()
  await server.kill()
  await server.restart()
  const client = server.client()
  await eventually(async () => (await client.keys('*full*')).length > 0, { what: 'a server that is told' })
  await lasting(1_000)
  await Promise.all(apis.map((api) => api.call('stop')))
  await collect()
  const asked = reports.asked('full', killedAt, Number.POSITIVE_INFINITY)
  process.stdout.write(`empty restart: of ${asked} of a denied key none\n`)
  expect(reports.admitted('full', killedAt, Number.POSITIVE_INFINITY)).toBe(0)
  expect(asked).toBeGreaterThan(5)
}
