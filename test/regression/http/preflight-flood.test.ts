import type { ServerResponse } from 'node:http'
import { afterEach, expect, test } from '@jest/globals'
import { type Backend, byIp, type InflightBackend, inflightLimit, memoryBackend, rateLimit } from '@sluice/node-http'
import { leasedBackend, redisBackend, redisInflight } from '@sluice/redis'
import { sketchBackend, sketchInflight } from '@sluice/sketches/limits'
import { failingBackend, type RunningApp, until, Watcher } from '@sluice/testkit'
import { askForStatus } from '../../adapters/ask-for-status.ts'
import { running } from '../../adapters/running-app.ts'
import { ownPrefix } from '../../redis/exact/own-prefix.ts'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'

const FORGED = 400
const forged = {
  method: 'OPTIONS',
  path: '/',
  headers: { origin: 'https://page.test', 'access-control-request-method': 'GET' },
}
const request = { path: '/' }

const redis = redisClientForTests()
let app: RunningApp | undefined
afterEach(async () => {
  await app?.close()
  app = undefined
})

const caps: readonly [string, () => Partial<Parameters<typeof inflightLimit>[0]>][] = [
  ['of the process', () => ({})],
  ['of each client', () => ({ key: byIp() })],
  [
    'of a fleet, in Redis',
    () => ({ backend: redisInflight(redis.client, { prefix: ownPrefix(), deadlineMs: 3_000 }) as InflightBackend }),
  ],
  ['in a sketch', () => ({ key: byIp(), backend: sketchInflight() })],
]

test.each(caps)(
  'of 400 concurrent preflights and requests, a cap of 2 %s allows 2 preflights and 2 requests',
  async (_of, options) => {
    const watcher = new Watcher()
    const work: ServerResponse[] = []
    const given = options()
    // the handler ignores the method, like many handlers
    const handler = inflightLimit({ limit: 2, observers: [watcher], ...given }).wrap((_req, res) => void work.push(res))
    app = await running(handler)
    const { port } = app
    const statuses: number[] = []
    const ask = (asked: typeof request, times: number) =>
      Array.from({ length: times }, () => askForStatus(port, asked).then((status) => statuses.push(status)))
    const floods = ask(forged, FORGED)
    await until(() => statuses.length === FORGED - 2, { what: 'the flood being denied' })
    const honest = ask(request, 3)
    await until(() => statuses.length === FORGED - 1, { what: 'a third request being denied' })
    expect(new Set(statuses)).toEqual(new Set([503]))
    expect([work.length, watcher.mostHeld]).toEqual([4, 4])
    for (const res of work) res.end()
    await Promise.all([...floods, ...honest])
    await until(() => watcher.held === 0)
    expect(statuses.filter((status) => status === 200)).toHaveLength(4)
    await given.backend?.close?.()
  },
)

const dead = (): never => {
  throw new Error('ECONNREFUSED')
}
const rates: readonly [string, () => Backend][] = [
  ['memory', () => memoryBackend()],
  ['a sketch', () => sketchBackend({ bytes: 2 ** 20 }) as Backend],
  ['Redis', () => redisBackend(redis.client, { prefix: ownPrefix() })],
  ['leases', () => leasedBackend(redis.client, { prefix: ownPrefix() })],
  ['in this process, as its backend is unavailable', () => failingBackend(dead, 'away')],
]

test.each(rates)('as many preflights as requests are allowed if the counts are in %s', async (_where, made) => {
  const backend = made()
  const limit = rateLimit({ limit: 40, window: '1h', algorithm: 'fixed-window', backend, deadlineMs: 5_000 })
  app = await running(limit.wrap((_req, res) => res.end('run')))
  const { port } = app
  const passed = async (asked: typeof request): Promise<number> => {
    const statuses = await Promise.all(Array.from({ length: FORGED }, () => askForStatus(port, asked)))
    return statuses.filter((status) => status === 200).length
  }
  expect([await passed(forged), await passed(request), await passed(forged)]).toEqual([40, 40, 0])
  limit.close()
  await backend.close?.()
})
