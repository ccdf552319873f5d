import { beforeEach, describe, expect, test } from '@jest/globals'
import type { Charge, Clock, Policy } from '@sluice/limiter-core'
import { newIdempotencyKey, systemClock } from '@sluice/limiter-core/backend'
import { type PostgresBackend, postgresBackend } from '@sluice/postgres'
import { openedCounter } from '@sluice/testkit'
import type { Pool } from 'pg'
import { eventually } from '../services/eventually.ts'
import { postgresForTests } from '../services/postgres/postgres-for-tests.ts'
import { CountedPool } from './counted-pool.ts'
import { ownSchema } from './own-schema.ts'

const hour: Policy = { name: 'hour', algorithm: 'fixed-window', limit: 100, windowMs: 3_600_000 }
const brief: Policy = { name: 'brief', algorithm: 'gcra', limit: 10, windowMs: 10 }

const postgres = postgresForTests({ fsync: false })
let schema: string
let counted: CountedPool
let shiftMs: number
const clock: Clock = { ...systemClock, now: () => systemClock.now() + shiftMs }
let backend: PostgresBackend

beforeEach(async () => {
  shiftMs = 0
  schema = ownSchema()
  counted = new CountedPool(postgres.pool)
  backend = postgresBackend(counted, { schema, clock })
  await backend.migrate()
})

function chargeOf(key: string, cost = 1, policy = hour, of: PostgresBackend = backend): Charge {
  return { key, counter: openedCounter(of, 'statements', policy), cost }
}

async function remaining(key: string, policy = hour): Promise<number> {
  return (await backend.peekAll([chargeOf(key, 0, policy)])).verdicts[0].remaining
}

describe('statements', () => {
  test('one decides a request, also of several policies, and one decides all requests of a turn', async () => {
    await remaining('first contact')
    counted.turns = 0
    await backend.takeAll([chargeOf('a'), chargeOf('a', 1, brief), chargeOf('b')])
    expect(counted.turns).toBe(1)
    await Promise.all(Array.from({ length: 60 }, (_, index) => backend.takeAll([chargeOf(`k${index % 50}`)])))
    expect(counted.turns).toBe(2)
  })

  test('one decides a request for a key that another process has changed', async () => {
    const other = postgresBackend(postgres.pool, { schema })
    await backend.takeAll([chargeOf('a')])
    await other.takeAll([chargeOf('a', 98, hour, other)])
    counted.turns = 0
    expect((await backend.takeAll([chargeOf('a')])).verdicts[0]).toMatchObject({ allowed: true, remaining: 0 })
    expect((await backend.takeAll([chargeOf('a')])).verdicts[0].allowed).toBe(false)
    expect(counted.turns).toBe(2)
  })

  test('of a denied request writes nothing, so that a flood of denied requests does not wait for the disk', async () => {
    await backend.takeAll([chargeOf('a', 100)])
    const before = await nextTransaction()
    const denied = await Promise.all(Array.from({ length: 30 }, () => backend.takeAll([chargeOf('a')])))
    await backend.takeAll([chargeOf('a')])
    expect(denied.some(({ verdicts }) => verdicts[0].allowed)).toBe(false)
    expect(await nextTransaction()).toBe(before)
  })

  test('of later turns do not wait for a statement about other keys', async () => {
    await backend.takeAll([chargeOf('a'), chargeOf('b')])
    const client = await postgres.pool.connect()
    await client.query('begin')
    await client.query(`select * from ${schema}.limits where name like '% a' for update`)
    const blocked = backend.takeAll([chargeOf('a')])
    await new Promise((resolve) => setImmediate(resolve))
    expect((await backend.takeAll([chargeOf('b')])).verdicts[0].remaining).toBe(98)
    await client.query('commit')
    client.release()
    expect((await blocked).verdicts[0].remaining).toBe(98)
  })
})

/** The number of the next transaction that changes a row. */
async function nextTransaction(): Promise<string> {
  const { rows } = await postgres.pool.query('select pg_snapshot_xmax(pg_current_snapshot())::text as next')
  return rows[0].next
}

/** Resolves when the clock of the server has passed a deadline in `ms` from now. */
async function serverPasses(ms: number): Promise<void> {
  const now = async (): Promise<number> => {
    const { rows } = await postgres.pool.query('select extract(epoch from clock_timestamp())::float8 * 1000 as now')
    return rows[0].now
  }
  // whole ms of both clocks
  const deadline = (await now()) + ms + 2
  await eventually(async () => (await now()) > deadline, { what: `${ms} ms of the server` })
}

describe('a deadline', () => {
  test('that has passed when the statement starts leaves nothing counted, alone and with other requests', async () => {
    await backend.takeAll([chargeOf('a')], { deadlineAt: clock.now() + 5_000 })
    counted.before = () => serverPasses(30)
    const late = (keys: readonly string[]): Promise<unknown> =>
      backend
        .takeAll(
          keys.map((key) => chargeOf(key)),
          { deadlineAt: clock.now() + 30 },
        )
        .catch(({ code }) => code)
    expect(await late(['a'])).toBe('LATE')
    expect(await Promise.all([late(['a']), late(['a', 'b'])])).toEqual(['LATE', 'LATE'])
    counted.before = async () => {}
    expect([await remaining('a'), await remaining('b')]).toEqual([99, 100])
  })

  test('that passes while a statement waits for a lock leaves nothing counted', async () => {
    await backend.takeAll([chargeOf('a'), chargeOf('b')])
    const client = await postgres.pool.connect()
    await client.query('begin')
    await client.query(`select * from ${schema}.limits for update`)
    const codes = ['a', 'b'].map((key) =>
      backend.takeAll([chargeOf(key)], { deadlineAt: clock.now() + 40 }).catch(({ code }) => code),
    )
    await serverPasses(40)
    await client.query('commit')
    client.release()
    expect(await Promise.all(codes)).toEqual(['LATE', 'LATE'])
    expect([await remaining('a'), await remaining('b')]).toEqual([99, 99])
  })

  test('is kept after the clock of the process was set: the request is decided again', async () => {
    await remaining('a')
    shiftMs -= 3_600_000
    const { verdicts, takenAt } = await backend.takeAll([chargeOf('a')], { deadlineAt: clock.now() + 5_000 })
    expect(verdicts[0].remaining).toBe(99)
    shiftMs += 7_200_000
    expect(Math.abs((await backend.takeAll([chargeOf('a')])).takenAt - takenAt)).toBeLessThan(5_000)
  })
})

describe('an adjustment', () => {
  test('with the same idempotency key is applied once, by any process, also in the same turn', async () => {
    const { takenAt } = await backend.takeAll([chargeOf('a', 10), chargeOf('b', 10)])
    const idempotencyKey = newIdempotencyKey(clock.now())
    const refund = (of: PostgresBackend): Promise<unknown> =>
      of.adjustAll([chargeOf('a', -4, hour, of), chargeOf('b', -4, hour, of)], takenAt, { idempotencyKey })
    await Promise.all([refund(backend), refund(backend), refund(postgresBackend(postgres.pool, { schema }))])
    await refund(postgresBackend(postgres.pool, { schema }))
    expect([await remaining('a'), await remaining('b')]).toEqual([94, 94])
  })

  test('with an idempotency key older than half a minute is refused', async () => {
    const idempotencyKey = newIdempotencyKey(clock.now() - 30_001)
    const late = backend.adjustAll([chargeOf('a')], clock.now(), { idempotencyKey })
    await expect(late).rejects.toMatchObject({ code: 'LATE', mayHaveCounted: false })
  })
})

describe('usage that a caller knows', () => {
  test('is ignored if the server has lost nothing since it was reported', async () => {
    await backend.takeAll([chargeOf('a')])
    const known = { used: 50, resetAfterMs: 60_000, ageMs: 0 }
    expect((await backend.takeAll([{ ...chargeOf('a'), known }])).verdicts[0].remaining).toBe(98)
    expect(backend.mayHaveLost?.(chargeOf('a'), 0)).toBe(false)
  })

  test('is restored if it was reported before the server crashed, unless the key was reset since', async () => {
    await backend.takeAll([chargeOf('a'), chargeOf('b')])
    const known = { used: 50, resetAfterMs: 60_000, ageMs: 1_000 }
    // as after a crash, in which PostgreSQL empties unlogged tables
    await postgres.pool.query(`truncate ${schema}.limit_epoch`)
    await backend.resetAll([chargeOf('b')])
    const { verdicts } = await backend.takeAll(['a', 'b'].map((key) => ({ ...chargeOf(key), known })))
    expect(verdicts.map(({ remaining: left }) => left)).toEqual([49, 99])
  })
})

describe('expired rows', () => {
  test('are deleted, and the others stay', async () => {
    await backend.takeAll([...Array(30)].map((_, index) => chargeOf(`old ${index}`, 1, brief)))
    await backend.takeAll([chargeOf('new')])
    await postgres.pool.query(`update ${schema}.limits set kept_until = 0 where name like '%brief%'`)
    await backend.prune()
    const { rows } = await postgres.pool.query(`select count(*)::int from ${schema}.limits`)
    expect(rows[0].count).toBe(1)
    expect(await remaining('new')).toBe(99)
    expect((await backend.takeAll([chargeOf('old 1', 1, brief)])).verdicts[0].allowed).toBe(true)
  })

  test('are deleted while the backend is used', async () => {
    await backend.takeAll([chargeOf('old')])
    await postgres.pool.query(`update ${schema}.limits set kept_until = 0`)
    shiftMs += 10_001
    await backend.takeAll([chargeOf('new')])
    await eventually(
      async () => (await postgres.pool.query(`select 1 from ${schema}.limits where name like '%old'`)).rowCount === 0,
      { what: 'the deletion of the expired row' },
    )
  })
})

describe('a failure', () => {
  const failureOn = async (failing: Pool, during: () => Promise<void> = async () => {}): Promise<unknown> => {
    const of = postgresBackend(failing, { schema })
    const [failure] = await Promise.all([of.takeAll([chargeOf('a', 1, hour, of)]).catch((error) => error), during()])
    return failure
  }

  test('before a connection exists has certainly not counted', async () => {
    const busy = postgres.server.pool({ max: 1 })
    const client = await busy.connect()
    busy.options.connectionTimeoutMillis = 50
    expect(await failureOn(busy)).toMatchObject({ code: 'CONNECTION', mayHaveCounted: false })
    client.release()
    const unknown = postgres.server.pool({ database: 'unknown' })
    expect(await failureOn(unknown)).toMatchObject({ code: '3D000', mayHaveCounted: false })
    const closed = postgres.server.pool({ port: 1 })
    expect(await failureOn(closed)).toMatchObject({ code: 'CONNECTION', mayHaveCounted: false })
  })

  test('of a statement that the server ended has not counted, and of a connection that it ended may have', async () => {
    await backend.takeAll([chargeOf('a')])
    const client = await postgres.pool.connect()
    await client.query('begin')
    await client.query(`select * from ${schema}.limits for update`)
    const slow = postgres.server.pool({ statement_timeout: 50 })
    expect(await failureOn(slow)).toMatchObject({ code: '57014', mayHaveCounted: false })
    const ended = postgres.server.pool({ application_name: 'ended' })
    const end = (): Promise<void> =>
      eventually(
        async () => {
          // not in the transaction, which would see the connections as they were first
          const found = await postgres.pool.query(
            `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'ended' and wait_event_type = 'Lock'`,
          )
          return found.rowCount === 1
        },
        { what: 'the end of the connection' },
      )
    expect(await failureOn(ended, end)).toMatchObject({ code: '57P01', mayHaveCounted: true })
    await client.query('rollback')
    client.release()
  })
})

describe('a request that cannot be decided', () => {
  test('because its row is not of Sluice fails, and the others of its statement succeed', async () => {
    await backend.takeAll([chargeOf('bad')])
    await postgres.pool.query(`update ${schema}.limits set cells = '{1,2,3}'`)
    const keys = ['good', 'bad', 'bad']
    const [good, ...bad] = await Promise.allSettled(keys.map((key) => backend.takeAll([chargeOf(key)])))
    expect(good.status).toBe('fulfilled')
    for (const one of bad)
      expect(one).toMatchObject({ reason: { code: 'REPLY', keyOnly: true, mayHaveCounted: false } })
    await expect(backend.takeAll([chargeOf('bad')])).rejects.toMatchObject({ code: 'REPLY', keyOnly: true })
  })

  test('because its units overflow fails, and the others of its statement succeed', async () => {
    const [good, bad] = await Promise.allSettled([
      backend.adjustAll([chargeOf('good')], Number.MAX_VALUE),
      backend.adjustAll([chargeOf('bad', 1.7e308, { ...brief, windowMs: 3_600_000 })], Number.MAX_VALUE),
    ])
    expect(good).toMatchObject({ status: 'fulfilled', value: { verdicts: [{ remaining: 99 }] } })
    expect(bad).toMatchObject({ status: 'rejected', reason: { code: '22003', mayHaveCounted: false } })
  })

  test('because its algorithm is not in the database is refused when its limiter is created', () => {
    const { compiled } = openedCounter(backend, 'statements', hour)
    const leaky = Object.assign(Object.create(compiled), { policy: { ...hour, algorithm: 'leaky-meter' } })
    expect(() => backend.open(leaky, 'statements/hour')).toThrow(
      expect.objectContaining({ code: 'SLUICE_BAD_POLICY', message: expect.stringContaining('leaky-meter') }),
    )
  })

  test('because of another isolation level, whose snapshots are older than the locks, is refused', async () => {
    const strict = postgres.server.pool({ options: '-c default_transaction_isolation=repeatable\\ read' })
    const of = postgresBackend(strict, { schema })
    await expect(of.takeAll([chargeOf('a', 1, hour, of)])).rejects.toMatchObject({ code: '0A000' })
  })
})

test('many backends on a pool add one listener for its errors, and none after they are closed', async () => {
  const own = postgres.server.pool()
  const before = own.listenerCount('error')
  const backends = Array.from({ length: 12 }, () => postgresBackend(own))
  expect(own.listenerCount('error')).toBe(before + 1)
  for (const one of backends) await one.close?.()
  expect(own.listenerCount('error')).toBe(before)
})

describe('tables', () => {
  test('are created once, also by several processes at once', async () => {
    const together = ownSchema()
    await Promise.all([...Array(4)].map(() => postgresBackend(postgres.pool, { schema: together }).migrate()))
    await postgresBackend(postgres.pool, { schema: together }).migrate()
  })

  test('are used, but not created, by a user who has only the rights that the documentation names', async () => {
    await postgres.pool.query('create role counting login')
    await postgres.pool.query(`grant usage on schema ${schema} to counting`)
    await postgres.pool.query(
      `grant select, insert, update, delete on ${schema}.limits, ${schema}.limit_epoch to counting`,
    )
    const plain = postgresBackend(postgres.server.pool({ user: 'counting' }), { schema })
    await plain.migrate()
    await plain.takeAll([chargeOf('a', 1, hour, plain)])
    await plain.prune()
    await plain.resetAll([chargeOf('a', 0, hour, plain)])
    expect(await remaining('a')).toBe(100)
    await postgres.pool.query(`comment on function ${schema}.limit1_decide is 'of an earlier release'`)
    await expect(plain.migrate()).rejects.toMatchObject({ code: '42501' })
    await backend.migrate()
    await plain.migrate()
  })

  test('that are missing are named by the failure', async () => {
    const lost = postgresBackend(postgres.pool, { schema: 'nowhere' })
    await expect(lost.takeAll([chargeOf('a', 1, hour, lost)])).rejects.toThrow('call migrate()')
  })

  test('contain no client key if there is a secret', async () => {
    const hidden = postgresBackend(postgres.pool, { schema, secret: 'a secret of sixteen bytes' })
    await hidden.takeAll([chargeOf('198.51.100.7', 1, hour, hidden)])
    const { rows } = await postgres.pool.query(`select name from ${schema}.limits`)
    expect(rows).toHaveLength(1)
    expect(rows[0].name).not.toContain('198.51.100.7')
  })
})
