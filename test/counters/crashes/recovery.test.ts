import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createCounters } from '@sluice/counters'
import { postgresLedger } from '@sluice/counters/postgres'
import { redisCounters } from '@sluice/counters/redis'
import type { Counters } from '@sluice/fleet/backend'
import type { SqlRunner } from '@sluice/limiter-core'
import { postgresForTests } from '../../services/postgres/postgres-for-tests.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'

/** Time after which a call without an answer fails; a busy machine answers within it. */
const HUNG_MS = 1_000

const postgres = postgresForTests()
const redis = redisForTests()
let made = 0
let name = ''
const opened: Counters[] = []

beforeAll(() => postgresLedger(postgres.pool).migrate())
beforeEach(() => {
  name = `recovery-${++made}`
})
afterEach(async () => {
  for (const counters of opened.splice(0)) await counters.close().catch(() => {})
})

/** Creates counters of another process in Redis, which flush only on request. */
function hot(sql: SqlRunner = postgres.pool, waitMs = 3_000): Counters {
  const client = redis.server.client({ autoResendUnfulfilledCommands: false })
  const counters = redisCounters(client, { name, ledger: postgresLedger(sql), flushMs: '1h', waitMs })
  opened.push(counters)
  return counters
}

/** Reads a value from the ledger. */
async function durable(id: string): Promise<number> {
  const { rows } = await postgres.pool.query('select value from sluice.counters where name = $1 and id = $2', [
    name,
    id,
  ])
  return Number(rows[0]?.value ?? 0)
}

/** Loses answers or hangs for a configured number of batches. */
class FaultySql implements SqlRunner {
  /** Number of batches whose answer will be lost. */
  lostAnswers = 0
  /** Number of batches that will never arrive and never be answered. */
  hung = 0

  async query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }> {
    const isBatch = text.startsWith('with moved')
    if (isBatch && this.hung > 0) {
      this.hung--
      return new Promise(() => {})
    }
    const answer = await postgres.pool.query(text, values)
    if (!isBatch || this.lostAnswers === 0) return answer
    this.lostAnswers--
    throw new Error('the answer was lost')
  }
}

describe('counters in Redis before PostgreSQL', () => {
  test('count nothing twice after Redis restarts with an older snapshot', async () => {
    const counters = hot()
    await counters.increment('a', 5)
    await redis.server.client().call('SAVE')
    await counters.increment('a', 3)
    await counters.flush()
    await counters.increment('a', 4)
    await counters.flush()
    expect(await durable('a')).toBe(12)
    await redis.server.kill()
    await redis.server.start()
    // the 5 are pending again in Redis, although a batch with them is in the ledger
    expect((await hot().increment('a', 2)).value).toBe(14)
    await hot().flush()
    expect(await durable('a')).toBe(14)
    expect((await hot().read('a')).value).toBe(14)
  })

  test('flush the pending units of a restarted Redis', async () => {
    await hot().increment('a', 5)
    await redis.server.client().call('SAVE')
    await redis.server.kill()
    await redis.server.start()
    const counters = hot()
    expect((await counters.increment('a', 2)).value).toBe(7)
    await counters.flush()
    expect(await durable('a')).toBe(7)
  })

  test('flush a closed batch and a pending one of a restarted Redis', async () => {
    const sql = new FaultySql()
    const counters = hot(sql)
    await counters.increment('a', 5)
    sql.lostAnswers = 1
    await expect(counters.flush()).rejects.toThrow('the answer was lost')
    await counters.increment('a', 3)
    await redis.server.client().call('SAVE')
    await redis.server.kill()
    await redis.server.start()
    expect((await hot().increment('a', 2)).value).toBe(10)
    await hot().flush()
    expect(await durable('a')).toBe(10)
  })

  test('continue from the ledger after Redis has lost all its data', async () => {
    const counters = hot()
    await counters.increment('a', 5)
    await counters.flush()
    await counters.increment('b', 1, { durable: true })
    await redis.server.restart()
    const next = hot()
    expect((await next.increment('a', 2)).value).toBe(7)
    expect((await next.read('b')).value).toBe(1)
    await next.flush()
    expect(await durable('a')).toBe(7)
  })

  test('count a token once though Redis lost all its data in between', async () => {
    expect((await hot().increment('a', 5, { token: 't' })).counted).toBe(true)
    await redis.server.restart()
    expect(await hot().increment('a', 5, { token: 't' })).toEqual({ value: 5, durable: true, counted: false })
  })

  test('apply a batch once though its answer was lost', async () => {
    const sql = new FaultySql()
    const counters = hot(sql)
    await counters.increment('a', 5)
    sql.lostAnswers = 2
    await expect(counters.flush()).rejects.toThrow('the answer was lost')
    await counters.increment('a', 1)
    await expect(counters.flush()).rejects.toThrow('the answer was lost')
    await counters.flush()
    expect(await durable('a')).toBe(6)
    expect((await counters.read('a')).value).toBe(6)
  })

  test('finish the batch of a crashed process', async () => {
    const sql = new FaultySql()
    const stuck = hot(sql, HUNG_MS)
    await stuck.increment('a', 5)
    sql.hung = 1
    const failed = expect(stuck.flush()).rejects.toMatchObject({ code: 'SLUICE_COUNTERS_UNAVAILABLE' })
    const other = hot()
    await other.increment('a', 2)
    await other.flush()
    expect(await durable('a')).toBe(7)
    expect((await other.read('a')).value).toBe(7)
    await failed
  })

  test('keep counting while PostgreSQL is down, and flush everything afterwards', async () => {
    const counters = hot()
    await counters.increment('a', 1)
    await counters.flush()
    await postgres.server.kill()
    expect((await counters.increment('a', 2)).value).toBe(3)
    await expect(counters.flush()).rejects.toThrow()
    await expect(counters.increment('new', 1)).rejects.toThrow()
    await expect(counters.increment('a', 1, { token: 't' })).rejects.toMatchObject({
      code: 'SLUICE_COUNTERS_UNAVAILABLE',
    })
    expect((await counters.increment('a', 3)).value).toBeGreaterThanOrEqual(6)
    await postgres.server.start()
    await counters.increment('a', 1, { token: 't' })
    await counters.flush()
    expect(await durable('a')).toBe(7)
    expect((await counters.increment('new', 1)).value).toBe(1)
  })
})

describe('counters in a process before PostgreSQL', () => {
  const buffered = (sql: SqlRunner, waitMs = 3_000): Counters => {
    const counters = createCounters({ name, ledger: postgresLedger(sql), flushMs: '1h', waitMs })
    opened.push(counters)
    return counters
  }

  test('apply a batch once though its answer was lost, and report the first result for its token', async () => {
    const sql = new FaultySql()
    const counters = buffered(sql)
    await counters.increment('a', 5)
    sql.lostAnswers = 1
    await expect(counters.flush()).rejects.toThrow('the answer was lost')
    await counters.flush()
    sql.lostAnswers = 1
    expect(await counters.increment('a', 2, { token: 't' })).toEqual({ value: 7, durable: true, counted: true })
    expect(await durable('a')).toBe(7)
  })

  test('send a batch again if it was never answered', async () => {
    const sql = new FaultySql()
    const counters = buffered(sql, HUNG_MS)
    sql.hung = 1
    await expect(counters.increment('a', 2, { token: 't' })).rejects.toMatchObject({
      code: 'SLUICE_COUNTERS_UNAVAILABLE',
    })
    expect(await counters.increment('a', 2, { token: 't' })).toEqual({ value: 2, durable: true, counted: false })
    expect(await durable('a')).toBe(2)
  })

  test('reject at once, and lose nothing, if too many units are waiting for PostgreSQL', async () => {
    const counters = createCounters({ name, ledger: postgresLedger(postgres.pool), flushMs: '1h', maxWaiting: 2 })
    opened.push(counters)
    await counters.increment('a', 1)
    await counters.increment('b', 1)
    await expect(counters.increment('c', 1)).rejects.toMatchObject({ code: 'SLUICE_COUNTERS_FULL' })
    expect((await counters.increment('a', 1)).value).toBe(2)
    await counters.flush()
    expect((await counters.increment('c', 1)).value).toBe(1)
  })

  test('keep the waiting units while PostgreSQL is down', async () => {
    const counters = buffered(postgres.pool)
    await counters.increment('a', 1)
    await postgres.server.kill()
    expect((await counters.increment('a', 2)).value).toBe(3)
    await expect(counters.flush()).rejects.toThrow()
    await postgres.server.start()
    await counters.flush()
    expect(await durable('a')).toBe(3)
  })
})
