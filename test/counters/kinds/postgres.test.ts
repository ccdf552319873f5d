import { beforeAll, describe, test } from '@jest/globals'
import { type Counters, createCounters, shardedCounters, windowedCounters } from '@sluice/counters'
import { postgresLedger } from '@sluice/counters/postgres'
import { redisCounters } from '@sluice/counters/redis'
import { counterContract, type FakeClock, seededRandom } from '@sluice/testkit'
import { postgresForTests } from '../../services/postgres/postgres-for-tests.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'

const postgres = postgresForTests()
const redis = redisForTests()
let made = 0

beforeAll(() => postgresLedger(postgres.pool).migrate())

const { next } = seededRandom(1)

describe.each([
  ['plain', (counters: Counters): Counters => counters],
  ['sharded', (counters: Counters): Counters => shardedCounters(counters, { shards: 4, random: next })],
  [
    'windowed',
    (counters: Counters, clock: FakeClock): Counters =>
      windowedCounters(counters, { window: '1d', grain: '6h', clock }),
  ],
] as const)('%s counters', (kind, wrapped) => {
  describe('in PostgreSQL', () => {
    counterContract({ describe, test }, (clock) => {
      const name = `${kind}-${++made}`
      return {
        open: () => wrapped(createCounters({ name, ledger: postgresLedger(postgres.pool), clock }), clock),
        close: () => {},
      }
    })
  })

  describe('in Redis before PostgreSQL', () => {
    counterContract({ describe, test }, (clock) => {
      const client = redis.server.client()
      const name = `${kind}-hot-${++made}`
      return {
        open: () => wrapped(redisCounters(client, { name, ledger: postgresLedger(postgres.pool), clock }), clock),
        close: () => void client.disconnect(),
      }
    })
  })
})
