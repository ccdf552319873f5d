import { deepEqual, notDeepEqual, ok } from 'node:assert/strict'
import type { Row } from '@sluice/fleet/backend'
import { hostileKeys } from '../hostile-keys.ts'
import { bytesOf, changeOf, createdVersion, LONG_MS, type RowBench, rowOf, written } from './row-bench.ts'

const ALL_BYTES = Array.from({ length: 256 }, (_, byte) => byte)
const DEFAULT_ROWS = 100
const MAX_KEY_BYTES = 1_000
const MANY = 1_000

/** What every `RowStore` must do. */
export const rowClaims: Readonly<Record<string, (bench: RowBench) => Promise<void>>> = {
  'returns undefined for a key without a row, in the order of the keys': async ({ store, other, key }) => {
    const [first, second, third] = [key('1'), key('2'), key('3')]
    await createdVersion(store, second, [7])
    const rows = await other.read([first, second, third])
    deepEqual(
      rows.map((row) => row && [...row.cells]),
      [undefined, [7], undefined],
    )
  },

  'reads and writes empty lists': async ({ store }) => {
    deepEqual([...(await store.read([]))], [])
    deepEqual(await written(store), true)
  },

  'keeps bytes exactly': async ({ store, other, key }) => {
    for (const bytes of [[], [0], [0, 0], ALL_BYTES, Array.from({ length: 4_096 }, (_, at) => (at * 7) % 256)]) {
      const one = key(`bytes ${bytes.length}`)
      await createdVersion(store, one, bytes)
      deepEqual(await bytesOf(other, one), bytes)
    }
  },

  'keeps bytes that the caller changes later': async ({ store, key }) => {
    const one = key()
    const cells = Uint8Array.from([1, 2])
    // a part of a larger buffer, as views of clients are
    const part = new Uint8Array([9, 1, 2, 9]).subarray(1, 3)
    deepEqual(await written(store, { key: one, cells, version: undefined }), true)
    cells.fill(5)
    const row = await rowOf(store, one)
    row?.cells.fill(6)
    deepEqual(await bytesOf(store, one), [1, 2])
    deepEqual(await written(store, { key: one, cells: part, version: row?.version }), true)
    deepEqual(await bytesOf(store, one), [1, 2])
  },

  'replaces a row only if its version is the latest': async ({ store, other, key }) => {
    const one = key()
    const first = await createdVersion(store, one, [1])
    deepEqual(await written(other, changeOf(one, [2], first)), true)
    deepEqual(await written(store, changeOf(one, [3], first)), false)
    deepEqual(await bytesOf(store, one), [2])
  },

  'creates a row only if there is none': async ({ store, other, key }) => {
    const one = key()
    await createdVersion(store, one, [1])
    deepEqual(await written(other, changeOf(one, [2])), false)
    deepEqual(await bytesOf(other, one), [1])
  },

  'does not create a row for a version': async ({ store, key }) => {
    const version = await createdVersion(store, key('other'), [1])
    deepEqual(await written(store, changeOf(key('missing'), [2], version)), false)
    deepEqual(await bytesOf(store, key('missing')), undefined)
  },

  'gives a row another version with each write, also of the same bytes': async ({ store, key }) => {
    const one = key()
    const versions = [await createdVersion(store, one, [1])]
    for (let write = 0; write < 20; write++) {
      deepEqual(await written(store, changeOf(one, [1], versions.at(-1))), true)
      versions.push((await rowOf(store, one))?.version as Row['version'])
    }
    deepEqual(new Set(versions).size, versions.length)
  },

  'writes all rows or none': async ({ store, other, key }) => {
    if (store.maxRows === 1) return
    const [old, fresh, stale] = [key('old'), key('fresh'), key('stale')]
    const version = await createdVersion(store, old, [1])
    const staleVersion = await createdVersion(store, stale, [1])
    deepEqual(await written(other, changeOf(stale, [2], staleVersion)), true)
    const changes = [changeOf(old, [9], version), changeOf(fresh, [9])]
    for (const last of [changeOf(stale, [9], staleVersion), changeOf(stale, [9])]) {
      deepEqual(await written(store, ...changes, last), false)
      deepEqual(
        [await bytesOf(store, old), await bytesOf(store, fresh), await bytesOf(store, stale)],
        [[1], undefined, [2]],
      )
    }
    deepEqual(await written(store, ...changes), true)
    deepEqual([await bytesOf(other, old), await bytesOf(other, fresh)], [[9], [9]])
  },

  'reads 1,000 keys, and writes them in as large parts as it permits': async ({ store, other, key }) => {
    const { maxRows = DEFAULT_ROWS } = store
    const keys = Array.from({ length: MANY }, (_, index) => key(`many ${index}`))
    for (let from = 0; from < MANY; from += maxRows) {
      const changes = keys.slice(from, from + maxRows).map((one, index) => changeOf(one, [(from + index) % 251]))
      deepEqual(await written(store, ...changes), true)
    }
    const rows = await other.read(keys)
    deepEqual(
      rows.map((row) => row?.cells[0]),
      keys.map((_, index) => index % 251),
    )
  },

  'keeps hostile keys apart': async ({ store, other, key }) => {
    const names = ['', ...hostileKeys].map((name) => key(name)).filter(isKey)
    const keys = [...new Set([...names, key('x').padEnd(MAX_KEY_BYTES, 'x'), key('x').padEnd(MAX_KEY_BYTES, 'y')])]
    ok(keys.length > 20)
    for (const [index, one] of keys.entries()) deepEqual(await written(store, changeOf(one, [index])), true)
    const rows = await other.read(keys)
    deepEqual(
      rows.map((row) => row?.cells[0]),
      keys.map((_, index) => index),
    )
  },

  'never loses a row before its time, and never repeats a version': async ({ store, other, key, passTime }) => {
    const one = key()
    const versions: unknown[] = []
    let version: Row['version'] | undefined
    for (let life = 0; life < 3; life++) {
      deepEqual(await store.write([changeOf(one, [life], version)], { ttlMs: 10_000 }), true)
      const row = await rowOf(store, one)
      deepEqual(row && [...row.cells], [life])
      versions.push(row?.version)
      if (!passTime) return
      await passTime(9_999)
      deepEqual(await bytesOf(other, one), [life])
      await passTime(60_000)
      version = (await rowOf(other, one))?.version
      // what a process that has read the row before its end still writes
      if (version === undefined) deepEqual(await written(other, changeOf(one, [9], row?.version)), false)
    }
    deepEqual(new Set(versions).size, versions.length)
  },

  'keeps a row for the time of its last write': async ({ store, key, passTime }) => {
    if (!passTime) return
    const one = key()
    deepEqual(await store.write([changeOf(one, [1])], { ttlMs: 1_000 }), true)
    deepEqual(await store.write([changeOf(one, [2], (await rowOf(store, one))?.version)], { ttlMs: LONG_MS }), true)
    await passTime(LONG_MS - 1_000)
    deepEqual(await bytesOf(store, one), [2])
  },

  'has a clock that does not run backwards, if it has one': async ({ store }) => {
    const times = [await store.now?.(), await store.now?.()]
    if (!store.now) return
    notDeepEqual(times[0], undefined)
    ok(Number.isFinite(times[0]) && (times[1] as number) >= (times[0] as number))
  },
}

function isKey(key: string): boolean {
  // lone surrogates have no UTF-8
  return !/\p{Surrogate}/u.test(key) && Buffer.byteLength(key) <= MAX_KEY_BYTES
}
