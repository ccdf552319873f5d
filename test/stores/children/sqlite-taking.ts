import type { Clock } from '@sluice/limiter-core'
import { storeBackend } from '@sluice/stores'
import { type SqliteDatabase, sqliteStore } from '@sluice/stores/sqlite'
import { FakeClock } from '@sluice/testkit'
import { CollectedTests } from '../../runtimes/programs/collected-tests.ts'
import { sqliteContracts } from '../sqlite-contracts.ts'
import { Taker } from '../taker.ts'

type OpenDatabase = new (path: string) => SqliteDatabase & { close(): void }

const tests = new CollectedTests()
let taker: Taker

function opened(path: string): SqliteDatabase {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite' as never) as { DatabaseSync: OpenDatabase }
  return new DatabaseSync(path)
}

/** Collects the tests of the contracts on a file, and returns their titles. */
export function collect(path: string): readonly string[] {
  sqliteContracts(tests, (clock?: Partial<Clock>, table?: string) => sqliteStore(opened(path), { clock, table }))
  return tests.titles
}

export function run(title: string): Promise<void> {
  return tests.runOne(title)
}

/** Opens the file. Further calls count in it. */
export function open(path: string): void {
  taker = new Taker(storeBackend(sqliteStore(opened(path)), { name: 'sqlite' }))
}

export function execute(path: string, sql: string): unknown {
  return opened(path).prepare(sql).get()
}

export function takeMany(key: string, count: number, limit: number): Promise<number> {
  return taker.takeMany(key, count, limit)
}

export function rate(keys: number, callers: number, ms: number): Promise<number> {
  return taker.rate(keys, callers, ms)
}

/** Writes rows that expire at once, and then more rows. Returns the number of rows that are left. */
export async function sweep(path: string, expired: number, written: number): Promise<number> {
  const clock = new FakeClock()
  const database = opened(path)
  const store = sqliteStore(database, { clock, table: 'swept' })
  const cells = new Uint8Array(1)
  for (let row = 0; row < expired; row++)
    await store.write([{ key: `e${row}`, cells, version: undefined }], { ttlMs: 10 })
  clock.advance(11)
  for (let row = 0; row < written; row++)
    await store.write([{ key: `w${row}`, cells, version: undefined }], { ttlMs: 10 })
  return (database.prepare('SELECT count(*) AS count FROM swept').get() as { count: number }).count
}

/** Reads and writes while another connection has locked the file. Returns both results. */
export async function locked(path: string): Promise<readonly [written: boolean, rows: number]> {
  const other = opened(path)
  other.exec('PRAGMA journal_mode = delete')
  const store = sqliteStore(opened(path), { busyMs: 0 })
  other.exec('BEGIN EXCLUSIVE')
  const isWritten = await store.write([{ key: 'a', cells: new Uint8Array(1), version: undefined }], { ttlMs: 1_000 })
  const read = store.read(['a', 'b'])
  other.exec('COMMIT')
  return [isWritten, (await read).length]
}
