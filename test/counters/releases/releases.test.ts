import { createHash } from 'node:crypto'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createCounters } from '@sluice/counters'
import { postgresLedger } from '@sluice/counters/postgres'
import { redisCounters } from '@sluice/counters/redis'
import type { Counters } from '@sluice/fleet/backend'
import { eachSeed, type SeededRandom } from '@sluice/testkit'
import { parseState, serializeState } from '../../../packages/quotas/src/account/quota-state.ts'
import { postgresForTests } from '../../services/postgres/postgres-for-tests.ts'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'
import { currentTexts, pinned, pinnedOr, TEXT_FILES } from './formats.ts'
import { OldRelease } from './old-release.ts'
import { QUOTA_STATE } from './quota-state.ts'
import { redisShape } from './redis-shape.ts'

const STEPS = 200
const IDS = ['a', 'b', 'c', 'd', 'e']

const postgres = postgresForTests({ fsync: false })
const redis = redisClientForTests()
let made = 0
let name = ''
const opened: Counters[] = []

beforeAll(() => postgresLedger(postgres.pool).migrate())
beforeEach(() => {
  name = `releases-${++made}`
})
afterEach(async () => {
  for (const counters of opened.splice(0)) await counters.close().catch(() => {})
})

/** Creates counters of this release, which flush only on request. */
function today(): Counters {
  const counters = redisCounters(redis.client, {
    name,
    ledger: postgresLedger(postgres.pool),
    partitions: 1,
    flushMs: '1h',
  })
  opened.push(counters)
  return counters
}

async function durable(): Promise<Record<string, number>> {
  const { rows } = await postgres.pool.query('select id, value from sluice.counters where name = $1 order by id', [
    name,
  ])
  return Object.fromEntries(rows.map(({ id, value }) => [id, Number(value)]))
}

/** Returns a token as it is stored: hashes of the token and of its deltas. */
function hashesOf(token: string, id: string, amount: number): { token: string; body: string } {
  const hash = (text: string): string => createHash('sha256').update(Buffer.from(text, 'utf16le')).digest('base64url')
  return { token: hash(token), body: hash(JSON.stringify([[id, amount]])) }
}

// If one of these tests fails, a stored format has changed, or a text that uses one. During a rollout, processes of the
// previous release run beside this one: the tests below check that with the pinned texts. If they pass, run with
// SLUICE_PIN=1 to pin the current texts.
describe('the pinned release', () => {
  test.each(TEXT_FILES)('has the texts of this release: %s', (file) => {
    const current = currentTexts().get(file) ?? ''
    expect(current).toBe(pinnedOr(file, current))
  })

  test('has the columns of this release in the tables of counters, writers and tokens', async () => {
    const { rows } = await postgres.pool.query(
      `select table_name as table, column_name as column, data_type as type, collation_name as collation, is_nullable as null
from information_schema.columns where table_schema = 'sluice'
and table_name in ('counters', 'counter_writers', 'counter_tokens') order by table_name, ordinal_position`,
    )
    const keys = await postgres.pool.query(
      `select conrelid::regclass::text as table, pg_get_constraintdef(oid) as key from pg_constraint
where conrelid::regclass::text in ('sluice.counters', 'sluice.counter_writers', 'sluice.counter_tokens') order by 1, 2`,
    )
    const current = `${JSON.stringify([...rows, ...keys.rows], undefined, 2)}\n`
    expect(current).toBe(pinnedOr('tables.json', current))
  })

  test('has the columns of this release in the tables of quotas', async () => {
    const { rows } = await postgres.pool.query(
      `select table_name as table, column_name as column, data_type as type, collation_name as collation, is_nullable as null
from information_schema.columns where table_schema = 'sluice' and table_name like 'quota\\_%' order by table_name, ordinal_position`,
    )
    const indexes = await postgres.pool.query(
      `select indexdef as index from pg_indexes where schemaname = 'sluice' and tablename like 'quota\\_%' order by 1`,
    )
    const current = `${JSON.stringify([...rows, ...indexes.rows], undefined, 2)}\n`
    expect(current).toBe(pinnedOr('quota-tables.json', current))
  })

  test('has the quota state format of this release, which can read the pinned state', () => {
    const current = serializeState(QUOTA_STATE)
    expect(current).toBe(pinnedOr('quota-state.txt', `${current}\n`).trimEnd())
    expect(parseState(pinned('quota-state.txt'))).toEqual(QUOTA_STATE)
  })

  test('reads a quota state of an earlier release without charges of writers and without holds', () => {
    const { forgottenAt, writers, reservations, holds, ...rest } = QUOTA_STATE
    const earlier = {
      writers: writers.map(({ charged, ...writer }) => writer),
      reservations: reservations.map(({ madeAt, ...reservation }) => reservation),
      ...rest,
    }
    expect(parseState(JSON.stringify({ v: 1, ...earlier }))).toEqual({ ...earlier, holds: [], forgottenAt: 0 })
  })

  test('has the keys and fields of this release in Redis', async () => {
    name = 'pinned'
    const counters = today()
    await counters.increment('a', 5)
    await counters.increment('\\\0', -2)
    const pending = await redisShape(redis.client, name)
    await new OldRelease(redis.client, postgres.pool, name).close()
    await counters.increment('a', 7)
    const closed = await redisShape(redis.client, name)
    await counters.flush()
    const finished = await redisShape(redis.client, name)
    const current = `${JSON.stringify({ pending, closed, finished }, undefined, 2)}\n`
    expect(current).toBe(pinnedOr('redis.json', current))
  })
})

describe('a process of the pinned release beside this one', () => {
  test('counts each unit once, whichever process flushes it', async () => {
    await eachSeed(2, async (random) => {
      name = `releases-${++made}`
      const olds = [1, 2].map(() => new OldRelease(redis.client, postgres.pool, name))
      const news = [1, 2].map(() => today())
      const counted = new Map<string, number>()
      const calls: Promise<unknown>[] = []
      for (let step = 0; step < STEPS; step++) {
        calls.push(takesStep(random, { olds, news, counted }))
        if (random.whole(4) === 0) await Promise.all(calls.splice(0))
      }
      await Promise.all(calls)
      await news[0]?.flush()
      expect(await durable()).toEqual(Object.fromEntries([...counted].sort()))
      for (const [id, units] of counted) {
        expect([id, await olds[0]?.increment(id, 0)]).toEqual([id, units])
        expect([id, (await news[0]?.read(id))?.value]).toEqual([id, units])
      }
    })
  })

  test.each([
    ['closed', false],
    ['applied', true],
  ])('ends after a batch was %s, and this release finishes the batch once', async (_, isApplied) => {
    const old = new OldRelease(redis.client, postgres.pool, name)
    await old.increment('a', 5)
    const batch = await old.close()
    if (isApplied && batch) await old.apply(batch)
    const counters = today()
    expect((await counters.increment('a', 2)).value).toBe(7)
    await counters.flush()
    expect(await durable()).toEqual({ a: 7 })
    expect((await counters.read('a')).value).toBe(7)
  })

  test('finishes a batch once that this release closed and applied, but did not finish', async () => {
    const answers = { areLost: true }
    const query = async (text: string, values?: unknown[]) => {
      const answer = await postgres.pool.query(text, values)
      if (answers.areLost && text.startsWith('with moved')) throw new Error('the answer was lost')
      return answer
    }
    const counters = redisCounters(redis.client, {
      name,
      ledger: postgresLedger({ query }),
      partitions: 1,
      flushMs: '1h',
    })
    opened.push(counters)
    await counters.increment('a', 5)
    await expect(counters.flush()).rejects.toThrow('the answer was lost')
    const old = new OldRelease(redis.client, postgres.pool, name)
    await old.handOver()
    expect(await old.increment('a', 3)).toBe(8)
    await old.handOver()
    expect(await durable()).toEqual({ a: 8 })
    answers.areLost = false
    expect((await counters.read('a')).value).toBe(8)
  })

  test('recognizes the tokens of this release, and this release recognizes its tokens', async () => {
    const old = new OldRelease(redis.client, postgres.pool, name)
    const counters = createCounters({ name, ledger: postgresLedger(postgres.pool) })
    opened.push(counters)
    expect(await old.countOnce('a', 3, hashesOf('first', 'a', 3))).toBe(true)
    expect((await counters.increment('a', 3, { token: 'first' })).counted).toBe(false)
    expect((await today().increment('a', 4, { token: 'second' })).counted).toBe(true)
    expect(await old.countOnce('a', 4, hashesOf('second', 'a', 4))).toBe(false)
    await expect(counters.increment('a', 9, { token: 'first' })).rejects.toMatchObject({ code: 'SLUICE_TOKEN_REUSED' })
    expect(await durable()).toEqual({ a: 7 })
  })

  test('starts on Redis after this release counted there and Redis restarted with its data', async () => {
    const counters = today()
    await counters.increment('a', 5)
    await redis.client.call('SAVE')
    await counters.increment('a', 3)
    await counters.flush()
    await redis.server.kill()
    await redis.server.start()
    const old = new OldRelease(redis.client, postgres.pool, name)
    expect(await old.increment('a', 2)).toBe(10)
    await old.handOver()
    expect(await durable()).toEqual({ a: 10 })
  })
})

describe('tables of a later release', () => {
  test('that earlier releases cannot use are rejected, by counters and by migrate()', async () => {
    const later = { schema: 'later' }
    await postgresLedger(postgres.pool, later).migrate()
    await postgres.pool.query('update later.counter_version set version = version + 1, reads_from = version + 1')
    const counters = createCounters({ ledger: postgresLedger(postgres.pool, later) })
    await expect(counters.increment('a')).rejects.toMatchObject({ code: 'SLUICE_COUNTER_TABLES' })
    await expect(postgresLedger(postgres.pool, later).migrate()).rejects.toMatchObject({
      code: 'SLUICE_COUNTER_TABLES',
    })
    await counters.close()
  })
})

interface Mixed {
  readonly olds: readonly OldRelease[]
  readonly news: readonly Counters[]
  /** Acknowledged units by id. */
  readonly counted: Map<string, number>
}

async function takesStep(random: SeededRandom, { olds, news, counted }: Mixed): Promise<void> {
  const [kind, id, amount] = [random.whole(12), random.pick(IDS), 1 + random.whole(9)]
  const [old, current] = [random.pick(olds), random.pick(news)]
  if (kind === 0) await current.flush()
  else if (kind === 1) await old.handOver()
  // a process that ends at any point
  else if (kind === 2) await old.close()
  else {
    await (kind < 7 ? current.increment(id, amount) : old.increment(id, amount))
    counted.set(id, (counted.get(id) ?? 0) + amount)
  }
}
