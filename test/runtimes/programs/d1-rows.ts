// Runs the contracts of stores and backends on D1, takes from Workers, and a database that fails.
import { waitUntil } from 'cloudflare:workers'
import { type StoreBackendOptions, storeBackend } from '@sluice/stores'
import { type D1Database, d1Store } from '@sluice/stores/d1'
import { backendContract, rowStoreContract } from '@sluice/testkit'
import { charge, used, within } from '../../stores/bench.ts'
import { Taker } from '../../stores/taker.ts'
import { CollectedTests, type Outcome } from './collected-tests.ts'

interface Environment {
  readonly DATABASE: D1Database
}

let prefixes = 0

async function outcome(database: D1Database): Promise<Outcome> {
  const tests = new CollectedTests()
  const store = d1Store(database, { waitUntil })
  await store.migrate()
  await store.migrate()
  rowStoreContract(tests, () => d1Store(database, { waitUntil }))
  backendContract(
    tests,
    (clock) =>
      storeBackend(d1Store(database, { waitUntil }), {
        prefix: `c${prefixes++}`,
        clock,
        serverTime: () => clock.now(),
      }),
    {
      histories: 2,
      answersWithoutClock: true,
    },
  )
  return tests.run()
}

/** Writes a row that expires soon. Returns whether it can be replaced and created once it has expired. */
async function expired(database: D1Database): Promise<readonly boolean[]> {
  const store = d1Store(database, { waitUntil })
  const change = { key: 'soon', cells: new Uint8Array(1) }
  await store.write([{ ...change, version: undefined }], { ttlMs: 100 })
  const [row] = await store.read(['soon'])
  for (let [left] = [row]; left !== undefined; [left] = await store.read(['soon']));
  const replaced = await store.write([{ ...change, version: row?.version }], { ttlMs: 60_000 })
  return [row !== undefined, replaced, await store.write([{ ...change, version: undefined }], { ttlMs: 60_000 })]
}

/** Returns the number of rows that are left of expired and fresh ones. */
async function leftOf(database: D1Database, expired: number, fresh: number): Promise<number> {
  const store = d1Store(database, { waitUntil, table: 'swept' })
  await store.migrate()
  const cells = new Uint8Array(1)
  const write = (key: string, ttlMs: number): Promise<boolean> =>
    store.write([{ key, cells, version: undefined }], { ttlMs })
  for (let row = 0; row < expired; row++) await write(`expired ${row}`, 1)
  for (let row = 0; row < fresh; row++) await write(`fresh ${row}`, 60_000)
  const [{ results }] = await database.batch([database.prepare('SELECT count(*) AS count FROM swept')])
  return (results[0] as { readonly count: number }).count
}

/** Returns the code of a take whose write fails in a way, and the units that are used afterwards. */
async function failureOf(database: D1Database, way: string): Promise<readonly [code: unknown, used: number]> {
  let isFailing = false
  const failing: D1Database = {
    prepare: (sql) => database.prepare(isFailing && way === 'reports an error' ? 'SELEC 1' : sql),
    batch: (statements) => {
      if (!isFailing || way === 'reports an error') return database.batch(statements)
      return way === 'never answers' ? new Promise(() => {}) : Promise.resolve([{ results: {} as never }])
    },
  }
  const backend = storeBackend(d1Store(failing, { waitUntil }), { prefix: way })
  await backend.takeAll([charge(backend, 3)])
  isFailing = true
  const code = await backend.takeAll([charge(backend)], within(500)).then(
    () => 'none',
    (error) => error.code,
  )
  isFailing = false
  return [code, await used(backend)]
}

export default {
  async fetch(request: Request, { DATABASE: database }: Environment): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const number = (name: string): number => Number(searchParams.get(name))
    if (pathname === '/contracts') return Response.json(await outcome(database))
    if (pathname === '/expired') return Response.json(await expired(database))
    if (pathname === '/sweep') return Response.json(await leftOf(database, number('expired'), number('fresh')))
    if (pathname === '/failure') return Response.json(await failureOf(database, searchParams.get('way') ?? ''))
    const store = d1Store(database, { waitUntil })
    await store.migrate()
    const options: StoreBackendOptions = { name: 'd1' }
    const taker = new Taker(storeBackend(store, options))
    if (pathname === '/rate') return Response.json(await taker.rate(number('keys'), number('callers'), number('ms')))
    return Response.json(await taker.takeMany('hot', number('count'), number('limit')))
  },
}
