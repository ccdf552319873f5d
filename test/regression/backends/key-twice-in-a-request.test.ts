import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { durableObjectBackend } from '@sluice/cloudflare'
import { memoryBackend } from '@sluice/limiter-core'
import type { Answer, Backend, Charge, Policy } from '@sluice/limiter-core/backend'
import { postgresBackend } from '@sluice/postgres'
import { redisBackend } from '@sluice/redis'
import { storeBackend } from '@sluice/stores'
import { FakeClock, openedCounter } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import type { Pool } from 'pg'
import { InProcessObjects } from '../../cloudflare/in-process-objects.ts'
import { ownSchema } from '../../postgres/own-schema.ts'
import { ownPrefix } from '../../redis/exact/own-prefix.ts'
import { type PostgresServer, startPostgres } from '../../services/postgres/postgres-server.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { MemoryRowStore } from '../../stores/memory-row-store.ts'

const MINUTE = 60_000
const minute: Policy = { name: 'minute', algorithm: 'fixed-window', limit: 10, windowMs: MINUTE }

let postgres: PostgresServer
let redis: RedisServer
let pool: Pool
let client: Redis

beforeAll(async () => {
  ;[postgres, redis] = await Promise.all([startPostgres({ fsync: false }), startRedis()])
  pool = postgres.pool()
  client = redis.client()
  await client.ping()
})

afterAll(() => Promise.all([postgres.stop(), redis.stop()]))

async function backendInPostgres(clock: FakeClock): Promise<Backend> {
  const backend = postgresBackend(pool, { schema: ownSchema(), clock, serverTime: () => clock.now() })
  await backend.migrate()
  return backend
}

function charge(backend: Backend, cost: number, rest: Partial<Charge> = {}): Charge {
  return { key: 'key', counter: openedCounter(backend, 'twice', minute), cost, ...rest }
}

/** Returns the numbers of each verdict. */
function numbersOf({ verdicts }: Answer): (number | undefined)[][] {
  return verdicts.map((verdict) => {
    const { remaining, retryAfterMs, resetAfterMs, availableAfterMs } = verdict
    return [remaining, retryAfterMs, resetAfterMs, availableAfterMs]
  })
}

const shared: [string, (clock: FakeClock) => Backend | Promise<Backend>][] = [
  ['redisBackend', (clock) => redisBackend(client, { prefix: ownPrefix(), clock, serverTime: () => clock.now() })],
  ['postgresBackend', backendInPostgres],
  [
    'durableObjectBackend',
    (clock) => durableObjectBackend(new InProcessObjects(), { clock, serverTime: () => clock.now() }),
  ],
  ['storeBackend', (clock) => storeBackend(new MemoryRowStore(), { clock, serverTime: () => clock.now() })],
]

describe.each([...shared, ['memoryBackend', (clock: FakeClock) => memoryBackend({ clock })] as const])(
  'a request with several charges of one key in %s',
  (_name, makeBackend) => {
    let backend: Backend

    beforeAll(async () => {
      backend = await makeBackend(new FakeClock({ nowMs: 1e9 }))
    })

    // regression: the verdict of an advisory charge that was not taken included the units taken before it
    test('an advisory charge that is not taken is reported as it was before the request', async () => {
      const advisory = { key: 'advisory', advisory: true }
      const answer = await backend.takeAll([
        charge(backend, 3, { key: 'advisory' }),
        charge(backend, 11, advisory),
        charge(backend, 2, advisory),
        charge(backend, 4, { key: 'advisory' }),
      ])
      expect(numbersOf(answer)).toEqual([
        [7, 0, MINUTE, MINUTE],
        [10, Number.POSITIVE_INFINITY, 0, 0],
        [10, 0, 0, 0],
        [3, 0, MINUTE, MINUTE],
      ])
    })

    // regression: in Redis, only the charges after a report were decided with the reported usage
    test('usage reported with the second charge also counts for the first charge', async () => {
      const known = { used: 8, resetAfterMs: MINUTE }
      const answer = await backend.takeAll([
        charge(backend, 3, { key: 'reported' }),
        charge(backend, 1, { key: 'reported', known }),
      ])
      expect(numbersOf(answer)).toEqual([
        [2, MINUTE, MINUTE, MINUTE],
        [2, 0, MINUTE, MINUTE],
      ])
    })

    // regression: Redis ignored the second adjustment as a repetition of the first
    test('each adjustment is applied, even if its key was adjusted before in the same request', async () => {
      const times = [3, 4, -2].map((cost) => charge(backend, cost, { key: 'adjusted' }))
      const answer = await backend.adjustAll(times, Number.NaN)
      expect(answer.verdicts.map(({ remaining }) => remaining)).toEqual([7, 3, 5])
    })
  },
)

// regression: only the first adjustment of a key with an idempotency key was applied. Memory ignores idempotency keys
describe.each(shared)('adjustments with an idempotency key in %s', (_name, makeBackend) => {
  test('a repeated request with several adjustments of one key is applied once', async () => {
    const backend = await makeBackend(new FakeClock({ nowMs: 1e9 }))
    const idempotencyKey = { id: 'of the request', issuedAt: 1e9 }
    const request = () =>
      backend.adjustAll(
        [3, 4].map((cost) => charge(backend, cost)),
        Number.NaN,
        { idempotencyKey },
      )
    const remaining = [await request(), await request()].map(({ verdicts }) => verdicts[1].remaining)
    expect(remaining).toEqual([3, 3])
  })
})
