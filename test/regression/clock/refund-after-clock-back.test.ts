import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { durableObjectBackend } from '@sluice/cloudflare'
import { type AlgorithmName, type Backend, createLimiter, memoryBackend } from '@sluice/limiter-core'
import { postgresBackend } from '@sluice/postgres'
import { redisBackend } from '@sluice/redis'
import { storeBackend } from '@sluice/stores'
import { FakeClock } from '@sluice/testkit'
import { InProcessObjects } from '../../cloudflare/in-process-objects.ts'
import { ServerClock } from '../../limiter/laws/storages.ts'
import { ownPrefix } from '../../redis/exact/own-prefix.ts'
import { type PostgresServer, startPostgres } from '../../services/postgres/postgres-server.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { MemoryRowStore } from '../../stores/memory-row-store.ts'

let redis: RedisServer
let postgres: PostgresServer
beforeAll(async () => {
  redis = await startRedis()
  postgres = await startPostgres({ fsync: false })
  await postgresBackend(postgres.pool()).migrate()
})
afterAll(async () => {
  await redis.stop()
  await postgres.stop()
})

const LIMIT = 10
const forms: readonly (readonly [algorithm: AlgorithmName, slices?: number])[] = [
  ['fixed-window'],
  ['sliding-window'],
  ['sliding-window', 4],
  ['sliding-log'],
]

const storages: Readonly<Record<string, (clock: FakeClock, server: ServerClock) => Backend>> = {
  memory: (_, server) => memoryBackend({ clock: server }),
  Redis: (clock, server) =>
    redisBackend(redis.client(), { prefix: ownPrefix(), clock, serverTime: () => server.now() }),
  PostgreSQL: (clock, server) => postgresBackend(postgres.pool(), { clock, serverTime: () => server.now() }),
  'Durable Objects': (clock, server) =>
    durableObjectBackend(new InProcessObjects(), { clock, serverTime: () => server.now() }),
  'a store': (clock, server) => storeBackend(new MemoryRowStore(), { clock, serverTime: () => server.now() }),
}
const cases = Object.keys(storages).flatMap((name) =>
  forms.map(([algorithm, slices]) => [name, algorithm, slices] as const),
)

// the time of the take is then in the future
test.each(cases)(
  '%s refunds a take after its clock was set back, with %s, slices %s',
  async (name, algorithm, slices) => {
    const clock = new FakeClock({ nowMs: 1_000_000 })
    const server = new ServerClock(clock, 0)
    const backend = storages[name](clock, server)
    const policies = [{ name: 'api', limit: LIMIT, window: '1m' as const, algorithm, ...(slices && { slices }) }]
    // a backend in memory would use the clock of the limiter
    const ofProcess = name === 'memory' ? undefined : clock
    const limiter = createLimiter({
      policies,
      backend,
      scope: `${algorithm}${slices}`,
      clock: ofProcess,
      deadlineMs: 10_000,
    })
    await limiter.take('key', 1)
    clock.advance(5_000)
    const taken = await limiter.take('key', 2)
    server.aheadMs -= 30_000
    await limiter.charge('key', -2, taken)
    expect((await limiter.peek('key', 0)).binding.remaining).toBe(LIMIT - 1)
    await limiter.charge('key', -1)
    expect((await limiter.peek('key', 0)).binding.remaining).toBe(LIMIT)
    limiter.close()
    await backend.close?.()
  },
)
