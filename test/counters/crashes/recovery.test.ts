import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createCounters } from '@sluice/counters'
import { postgresLedger } from '@sluice/counters/postgres'
import { redisCounters } from '@sluice/counters/redis'
import type { Counters, SqlRunner } from '@sluice/limiter-core'
import type { Pool } from 'pg'
import { type PostgresServer, startPostgres } from '../../services/postgres-server.ts'
import { type RedisServer, startRedis } from '../../services/redis-server.ts'

let postgres: PostgresServer
let pool: Pool
let redis: RedisServer
let made = 0
let name = ''
const opened: Counters[] = []

beforeAll(async () => {
  ;[postgres, redis] = await Promise.all([startPostgres(), startRedis()])
  pool = postgres.pool()
  await postgresLedger(pool).migrate()
})
beforeEach(() => {
  name = `recovery-${++made}`
})
afterEach(async () => {
  for (const counters of opened.splice(0)) await counters.close().catch(() => {})
})
afterAll(async () => {
  await postgres.stop()
  await redis.stop()
})

/** Counters of one more process in Redis, which hand nothing over unless they are flushed. */
function hot(sql: SqlRunner = pool): Counters {
  const client = redis.client({ autoResendUnfulfilledCommands: false })
  const counters = redisCounters(client, { name, ledger: postgresLedger(sql), flushMs: '1h', waitMs: '3s' })
  opened.push(counters)
  return counters
}

/** What the ledger has. */
async function durable(id: string): Promise<number> {
  const { rows } = await pool.query('select value from sluice.counters where name = $1 and id = $2', [name, id])
  return Number(rows[0]?.value ?? 0)
}

/** Fails in one way or another as often as it is told. */
class FaultySql implements SqlRunner {
  /** How many answers of batches are lost. */
  lostAnswers = 0
  /** How many batches never arrive, and are never answered. */
  hung = 0

  async query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }> {
    const isBatch = text.startsWith('with moved')
    if (isBatch && this.hung > 0) {
      this.hung--
      return new Promise(() => {})
    }
    const answer = await pool.query(text, values)
    if (!isBatch || this.lostAnswers === 0) return answer
    this.lostAnswers--
    throw new Error('the answer was lost')
  }
}

describe('counters in Redis before PostgreSQL', () => {
  test('count nothing twice after Redis came back with what it had some time before', async () => {
    const counters = hot()
    await counters.increment('a', 5)
    await redis.client().call('SAVE')
    await counters.increment('a', 3)
    await counters.flush()
    await counters.increment('a', 4)
    await counters.flush()
    expect(await durable('a')).toBe(12)
    await redis.kill()
    await redis.start()
    // the 5 are pending again there, and were part of a batch that the ledger has
    expect((await hot().increment('a', 2)).value).toBe(14)
    await hot().flush()
    expect(await durable('a')).toBe(14)
    expect((await hot().read('a')).value).toBe(14)
  })

  test('hand over what a Redis that came back had not handed over', async () => {
    await hot().increment('a', 5)
    await redis.client().call('SAVE')
    await redis.kill()
    await redis.start()
    const counters = hot()
    expect((await counters.increment('a', 2)).value).toBe(7)
    await counters.flush()
    expect(await durable('a')).toBe(7)
  })

  test('hand over a closed batch and a pending one of a Redis that came back', async () => {
    const sql = new FaultySql()
    const counters = hot(sql)
    await counters.increment('a', 5)
    sql.lostAnswers = 1
    await expect(counters.flush()).rejects.toThrow('the answer was lost')
    await counters.increment('a', 3)
    await redis.client().call('SAVE')
    await redis.kill()
    await redis.start()
    expect((await hot().increment('a', 2)).value).toBe(10)
    await hot().flush()
    expect(await durable('a')).toBe(10)
  })

  test('go on from what the ledger has after Redis lost all it had', async () => {
    const counters = hot()
    await counters.increment('a', 5)
    await counters.flush()
    await counters.increment('b', 1, { durable: true })
    await redis.restart()
    const next = hot()
    expect((await next.increment('a', 2)).value).toBe(7)
    expect((await next.read('b')).value).toBe(1)
    await next.flush()
    expect(await durable('a')).toBe(7)
  })

  test('count a token once though Redis lost all it had in between', async () => {
    expect((await hot().increment('a', 5, { token: 't' })).counted).toBe(true)
    await redis.restart()
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

  test('finish the batch of a process that never comes back', async () => {
    const sql = new FaultySql()
    const stuck = hot(sql)
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

  test('count on while PostgreSQL is away, and hand all of it over afterwards', async () => {
    const counters = hot()
    await counters.increment('a', 1)
    await counters.flush()
    await postgres.kill()
    expect((await counters.increment('a', 2)).value).toBe(3)
    await expect(counters.flush()).rejects.toThrow()
    await expect(counters.increment('new', 1)).rejects.toThrow()
    await expect(counters.increment('a', 1, { token: 't' })).rejects.toMatchObject({
      code: 'SLUICE_COUNTERS_UNAVAILABLE',
    })
    expect((await counters.increment('a', 3)).value).toBeGreaterThanOrEqual(6)
    await postgres.start()
    await counters.increment('a', 1, { token: 't' })
    await counters.flush()
    expect(await durable('a')).toBe(7)
    expect((await counters.increment('new', 1)).value).toBe(1)
  })
})

describe('counters in a process before PostgreSQL', () => {
  const buffered = (sql: SqlRunner): Counters => {
    const counters = createCounters({ name, ledger: postgresLedger(sql), flushMs: '1h', waitMs: '3s' })
    opened.push(counters)
    return counters
  }

  test('apply a batch once though its answer was lost, and tell of a token what the first sending did', async () => {
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

  test('send a batch again that was never answered', async () => {
    const sql = new FaultySql()
    const counters = buffered(sql)
    sql.hung = 1
    await expect(counters.increment('a', 2, { token: 't' })).rejects.toMatchObject({
      code: 'SLUICE_COUNTERS_UNAVAILABLE',
    })
    expect(await counters.increment('a', 2, { token: 't' })).toEqual({ value: 2, durable: true, counted: false })
    expect(await durable('a')).toBe(2)
  })

  test('refuse at once, and drop nothing, where too much waits for PostgreSQL', async () => {
    const counters = createCounters({ name, ledger: postgresLedger(pool), flushMs: '1h', maxWaiting: 2 })
    opened.push(counters)
    await counters.increment('a', 1)
    await counters.increment('b', 1)
    await expect(counters.increment('c', 1)).rejects.toMatchObject({ code: 'SLUICE_COUNTERS_FULL' })
    expect((await counters.increment('a', 1)).value).toBe(2)
    await counters.flush()
    expect((await counters.increment('c', 1)).value).toBe(1)
  })

  test('do not lose what waited while PostgreSQL was away', async () => {
    const counters = buffered(pool)
    await counters.increment('a', 1)
    await postgres.kill()
    expect((await counters.increment('a', 2)).value).toBe(3)
    await expect(counters.flush()).rejects.toThrow()
    await postgres.start()
    await counters.flush()
    expect(await durable('a')).toBe(3)
  })
})
