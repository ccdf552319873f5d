import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createLimiter, type PolicyInput } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { type PostgresServer, startPostgres } from '../services/postgres/postgres-server.ts'
import { startNode } from '../services/processes/child-node.ts'
import { type RedisServer, startRedis } from '../services/redis/redis-server.ts'
import { type HolderBackend, openBackend } from './holder-backend.ts'

const SECOND = 1_000
let redis: RedisServer
let postgres: PostgresServer

beforeAll(async () => {
  const servers = await Promise.all([startRedis(), startPostgres({ fsync: false })])
  redis = servers[0]
  postgres = servers[1]
})
afterAll(() => Promise.all([redis.stop(), postgres.stop()]))

const kinds = ['redis', 'leased', 'postgres', 'quotas'] as const
describe.each(kinds)('a process that is killed while it holds units: %s', (kind) => {
  test('keeps a budget no longer than its holds', async () => {
    const window: Partial<PolicyInput> = kind === 'quotas' ? { calendar: { per: 'month', timeZone: 'UTC' } } : {}
    const policy: PolicyInput = { name: `killed-${kind}`, limit: 100, window: '1h', maxHoldMs: '80s', ...window }
    const options: HolderBackend = { kind, redisPort: redis.port, postgresUrl: postgres.url, policy }
    const clock = new FakeClock({ nowMs: Date.now() })
    const holder = startNode<typeof import('./children/holder.ts')>('budgets/children/holder.ts')
    expect(await holder.call('hold', options, clock.now(), 20)).toBe(100)
    await holder.stop()

    const { backend, close } = await openBackend(options, clock)
    const limiter = createLimiter({ policies: [policy], backend, clock, deadlineMs: 20_000 })
    const remaining = async (): Promise<number> => (await limiter.peek('a')).binding.remaining
    expect(await remaining()).toBe(0)
    clock.advance(80 * SECOND - 1)
    expect(await remaining()).toBe(0)
    // an eighth of `maxHoldMs` later
    clock.advance(10 * SECOND + 1)
    expect(await remaining()).toBe(100)
    const hold = await limiter.hold('a', { reserve: 100 })
    expect(hold.allowed).toBe(true)
    await hold.settle(30)
    expect(await remaining()).toBe(70)
    await limiter.close()
    await backend.close?.()
    await close()
  })
})
