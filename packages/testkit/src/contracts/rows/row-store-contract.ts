import { deepEqual } from 'node:assert/strict'
import type { RowStore } from '@sluice/fleet/backend'
import type { MaybePromise } from '@sluice/limiter-core'
import { systemClock } from '@sluice/limiter-core/backend'
import type { TestRunner } from '../../suite-runner.ts'
import { bytesOf, changeOf, type RowBench, rowOf, untilWritten, written } from './row-bench.ts'
import { rowClaims } from './row-claims.ts'

/** Creates a store. All stores that it returns have the same rows, like the stores of several processes. */
export type MakeRowStore = () => MaybePromise<RowStore>

export interface RowStoreContractOptions {
  /** Moves the time of the stores, for those whose time a test can move. Default: rows are not seen to expire. */
  readonly passTime?: ((ms: number) => MaybePromise<void>) | undefined
  /** Number of writers of the tests with concurrent writes. Default: 8. */
  readonly writers?: number | undefined
}

const WRITERS = 8
const WRITES = 10
let benches = 0

/** The contract of every `RowStore` of `storeBackend`. Runs with the test functions of your test runner. */
export function rowStoreContract(
  { describe, test }: TestRunner,
  makeStore: MakeRowStore,
  { passTime, writers = WRITERS }: RowStoreContractOptions = {},
): void {
  const onBench = async (run: (bench: RowBench) => Promise<void>): Promise<void> => {
    // the rows may outlive the test
    const prefix = `${systemClock.wall()} ${benches++} `
    await run({ store: await makeStore(), other: await makeStore(), key: (name = 'a') => prefix + name, passTime })
  }

  describe('fulfils the contract of a row store', () => {
    for (const [name, run] of Object.entries(rowClaims)) test(name, () => onBench(run))

    test('loses no write of concurrent writers', () =>
      onBench(async ({ key }) => {
        const one = key()
        const stores = await Promise.all(Array.from({ length: writers }, makeStore))
        await Promise.all(stores.map((store) => addMany(store, one)))
        deepEqual(await bytesOf(stores[0], one), [writers * WRITES])
      }))

    test('moves units between rows without a loss', () =>
      onBench(async ({ store, key }) => {
        if (store.maxRows === 1) return
        const keys = [key('1'), key('2'), key('3')]
        for (const one of keys) deepEqual(await written(store, changeOf(one, [100])), true)
        const stores = await Promise.all(Array.from({ length: writers }, makeStore))
        await Promise.all(stores.map((each, index) => moveMany(each, keys, index)))
        const rows = await store.read(keys)
        deepEqual(
          rows.reduce((sum, row) => sum + (row?.cells[0] ?? 0), 0),
          100 * keys.length,
        )
      }))
  })
}

/** Adds 1 to a row several times. */
async function addMany(store: RowStore, key: string): Promise<void> {
  for (let write = 0; write < WRITES; write++) {
    await untilWritten(async () => {
      const row = await rowOf(store, key)
      return written(store, changeOf(key, [(row?.cells[0] ?? 0) + 1], row?.version))
    })
  }
}

/** Moves a unit from one row to the next several times. */
async function moveMany(store: RowStore, keys: readonly string[], first: number): Promise<void> {
  for (let write = 0; write < WRITES; write++) {
    const [from, to] = [keys[(first + write) % keys.length], keys[(first + write + 1) % keys.length]]
    await untilWritten(async () => {
      const [giver, taker] = await store.read([from, to])
      const changes = [
        changeOf(from, [(giver?.cells[0] as number) - 1], giver?.version),
        changeOf(to, [(taker?.cells[0] as number) + 1], taker?.version),
      ]
      return written(store, ...changes)
    })
  }
}
