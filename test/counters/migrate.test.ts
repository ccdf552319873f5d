import { beforeEach, describe, expect, test } from '@jest/globals'
import { createCounters, uniqueCounters } from '@sluice/counters'
import { postgresLedger, type SqlLedger } from '@sluice/counters/postgres'
import { postgresForTests } from '../services/postgres/postgres-for-tests.ts'

const postgres = postgresForTests()
let made = 0
let schema = ''

beforeEach(() => {
  schema = `tables_${++made}`
})

function ledger(): SqlLedger {
  return postgresLedger(postgres.pool, { schema })
}

/** Creates the tables of version 1, with one counter. */
async function makeFirstVersion(): Promise<void> {
  await postgres.pool.query(`create schema ${schema};
create table ${schema}.counters (
  name text collate "C" not null, id text collate "C" not null, value bigint not null, version bigint not null,
  updated_at timestamptz not null, reset_at timestamptz not null, deleted boolean not null, primary key (name, id)
) with (fillfactor = 70);
create table ${schema}.counter_writers (
  name text collate "C" not null, writer text collate "C" not null, number bigint not null,
  moved_at timestamptz not null, primary key (name, writer)
) with (fillfactor = 70);
create table ${schema}.counter_tokens (
  name text collate "C" not null, token text collate "C" not null, body text not null, writer text not null,
  number bigint not null, used_at timestamptz not null, primary key (name, token)
);
create index on ${schema}.counter_tokens (used_at);
create table ${schema}.counter_version (version int not null);
insert into ${schema}.counter_version values (1);
insert into ${schema}.counters values ('default', 'page', 41, 1, now(), '-infinity', false)`)
}

async function use(): Promise<readonly [counted: number, unique: number]> {
  const counters = createCounters({ ledger: ledger() })
  const uniques = uniqueCounters({ ledger: ledger() })
  try {
    const { value } = await counters.increment('page', 1, { durable: true })
    await uniques.add('page', 'anna', { durable: true })
    return [value, await uniques.day('page')]
  } finally {
    await Promise.all([counters.close(), uniques.close()])
  }
}

async function version(): Promise<unknown> {
  return (await postgres.pool.query(`select * from ${schema}.counter_version`)).rows
}

describe('tables of an earlier release', () => {
  test('are rejected until they are migrated, with instructions in the message', async () => {
    await makeFirstVersion()
    await expect(use()).rejects.toMatchObject({
      code: 'SLUICE_COUNTER_TABLES',
      message: expect.stringMatching(
        /expected tables of version 3, created by migrate\(\), received tables of version 1/,
      ),
    })
    expect(await version()).toEqual([{ version: 1 }])
  })

  test('are upgraded by several processes at once, and keep their data', async () => {
    await makeFirstVersion()
    await Promise.all([ledger(), ledger(), ledger()].map((one) => one.migrate()))
    expect(await use()).toEqual([42, 1])
    await ledger().migrate()
    expect(await version()).toEqual([{ version: 3, reads_from: 2 }])
    expect(await use()).toEqual([43, 1])
  })

  test('have the same columns as a new installation', async () => {
    await makeFirstVersion()
    await ledger().migrate()
    const migrated = await columns()
    schema = `${schema}_new`
    await Promise.all([ledger(), ledger()].map((one) => one.migrate()))
    expect(await columns()).toEqual(migrated)
    expect(await use()).toEqual([1, 1])
  })
})

describe('tables of a later release', () => {
  test.each([
    [3, true],
    [4, false],
  ])('that releases with version %i or later can read are accepted: %s', async (readsFrom, isUsed) => {
    await ledger().migrate()
    await postgres.pool.query(`update ${schema}.counter_version set version = 4, reads_from = ${readsFrom}`)
    const answer = await Promise.allSettled([use(), ledger().migrate()])
    expect(answer.map(({ status }) => status === 'fulfilled')).toEqual([isUsed, isUsed])
    expect(await version()).toEqual([{ version: 4, reads_from: readsFrom }])
  })
})

async function columns(): Promise<unknown> {
  const { rows } = await postgres.pool.query(
    `select table_name, column_name, data_type, collation_name, is_nullable from information_schema.columns
where table_schema = $1 order by table_name, ordinal_position`,
    [schema],
  )
  expect(rows.length).toBeGreaterThan(20)
  return rows
}
