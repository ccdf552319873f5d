import assert from 'node:assert/strict'
import type { Counters } from '@sluice/fleet/backend'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import type { FakeClock } from '../fake-clock.ts'
import { hostileKeys } from './hostile-keys.ts'

/** The environment of a claim about counters. */
export interface CounterBench {
  readonly clock: FakeClock
  readonly durable: boolean
  open(): Promise<Counters>
}

const LARGEST = Number.MAX_SAFE_INTEGER

/** The contract of all counters, by claim. */
export const counterClaims: Readonly<Record<string, (bench: CounterBench) => Promise<void>>> = {
  'starts at 0, and returns the new value for each increment': async ({ open }) => {
    const counters = await open()
    assert.deepEqual(await counters.read('a'), { id: 'a', value: 0, version: 0, updatedAt: undefined })
    assert.deepEqual(await counters.increment('a'), { value: 1, durable: false, counted: true })
    assert.equal((await counters.increment('a', 41)).value, 42)
    assert.equal((await counters.increment('a', -50)).value, -8)
    assert.equal((await counters.increment('a', 0)).value, -8)
    assert.equal((await counters.read('b')).value, 0)
  },

  'has an increasing version and a time once it is written': async ({ open }) => {
    const counters = await open()
    await counters.increment('a')
    await counters.flush()
    const first = await counters.read('a')
    await counters.increment('a')
    await counters.flush()
    const second = await counters.read('a')
    assert.ok(first.version > 0 && second.version > first.version)
    assert.ok(Number(second.updatedAt) >= Number(first.updatedAt) && Number(first.updatedAt) > 0)
  },

  'has the same value in all processes once they have flushed': async ({ open }) => {
    const [one, other] = [await open(), await open()]
    await one.increment('a', 3)
    await other.increment('a', 4)
    await one.flush()
    await other.flush()
    assert.equal((await one.read('a', { maxAgeMs: 0 })).value, 7)
    assert.equal((await other.read('a', { maxAgeMs: 0 })).value, 7)
  },

  'writes automatically without a waiting caller': async ({ open, clock }) => {
    const [one, other] = [await open(), await open()]
    await one.increment('a', 3)
    clock.advance(1_000)
    await until(async () => (await other.read('a', { maxAgeMs: 0 })).value === 3)
  },

  'flushes and sums while a caller keeps counting': async ({ open }) => {
    const counters = await open()
    await counters.increment('a')
    let isOver = false
    const counting = (async () => {
      while (!isOver) {
        await counters.increment('a')
        await new Promise<void>((resolve) => afterThisTurn(resolve))
      }
    })()
    const sums = [await counters.aggregate(''), await counters.aggregate('')]
    await counters.flush()
    isOver = true
    await counting
    assert.ok(sums[1] >= sums[0])
  },

  'resolves a durable increment once other processes can read it': async ({ open, durable }) => {
    const [one, other] = [await open(), await open()]
    assert.deepEqual(await one.increment('a', 5, { durable: true }), { value: 5, durable, counted: true })
    assert.equal((await other.read('a')).value, 5)
  },

  'counts a durable increment once next to non-durable ones': async ({ open }) => {
    const counters = await open()
    await counters.increment('a', 1)
    await counters.increment('a', 2, { durable: true })
    await counters.increment('a', 4)
    assert.equal((await counters.read('a')).value, 7)
    await counters.flush()
    assert.equal((await counters.read('a', { maxAgeMs: 0 })).value, 7)
  },

  'counts a whole batch or nothing': async ({ open }) => {
    const counters = await open()
    const bad: readonly [unknown, string][] = [
      [{ a: 1, b: 1.5 }, 'SLUICE_BAD_DELTA'],
      [
        [
          ['a', 1],
          ['', 1],
        ],
        'SLUICE_BAD_COUNTER_ID',
      ],
      [[['a', 1], 'b'], 'SLUICE_BAD_DELTA'],
      ['a', 'SLUICE_BAD_DELTA'],
      [null, 'SLUICE_BAD_DELTA'],
    ]
    for (const [deltas, code] of bad) await assert.rejects(counters.incrementMany(deltas as []), { code })
    await counters.increment('full', LARGEST)
    await assert.rejects(counters.incrementMany({ a: 1, full: 1 }), { code: 'SLUICE_COUNTER_RANGE' })
    assert.equal((await counters.read('a')).value, 0)
    assert.equal((await counters.incrementMany({})).values.size, 0)
  },

  'rejects invalid input with an error code': async ({ open }) => {
    const counters = await open()
    for (const delta of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '1', null, 1n]) {
      await assert.rejects(counters.increment('a', delta as number), { code: 'SLUICE_BAD_DELTA' })
    }
    for (const id of ['', 'x'.repeat(257), 'é'.repeat(129), undefined, 1, {}]) {
      await assert.rejects(counters.increment(id as string), { code: 'SLUICE_BAD_COUNTER_ID' })
      await assert.rejects(counters.read(id as string), { code: 'SLUICE_BAD_COUNTER_ID' })
      await assert.rejects(counters.reset(id as string), { code: 'SLUICE_BAD_COUNTER_ID' })
    }
    for (const token of ['', 'x'.repeat(257), 1, null]) {
      await assert.rejects(counters.increment('a', 1, { token: token as string }), { code: 'SLUICE_BAD_TOKEN' })
    }
    await assert.rejects(counters.increment('a', 1, { durible: true } as object), { code: 'SLUICE_BAD_OPTION' })
    await assert.rejects(counters.readMany('', { limit: 0 }), { code: 'SLUICE_BAD_OPTION' })
    await assert.rejects(counters.aggregate('', 'mean' as 'sum'), { code: 'SLUICE_BAD_OPTION' })
    assert.equal((await counters.read('a')).value, 0)
  },

  'supports all safe integers, and rejects values outside of them': async ({ open }) => {
    const counters = await open()
    assert.equal((await counters.increment('up', LARGEST)).value, LARGEST)
    assert.equal((await counters.increment('down', -LARGEST)).value, -LARGEST)
    await assert.rejects(counters.increment('up'), { code: 'SLUICE_COUNTER_RANGE' })
    await assert.rejects(counters.increment('down', -1, { durable: true }), { code: 'SLUICE_COUNTER_RANGE' })
    await counters.flush()
    assert.equal((await counters.read('up', { maxAgeMs: 0 })).value, LARGEST)
    assert.equal((await counters.increment('up', -LARGEST)).value, 0)
    assert.equal((await counters.increment('down', LARGEST, { durable: true })).value, 0)
  },

  'keeps hostile ids apart': async ({ open }) => {
    const [one, other] = [await open(), await open()]
    const ids = hostileKeys.filter((id) => id !== '' && Buffer.byteLength(id) <= 256)
    for (const [index, id] of ids.entries()) await one.increment(id, index + 1)
    await one.flush()
    for (const [index, id] of ids.entries()) assert.equal((await other.read(id)).value, index + 1, JSON.stringify(id))
    const listed = await other.readMany('')
    assert.deepEqual(new Set(listed.map(({ id }) => id)), new Set(ids))
    assert.equal(listed.length, ids.length)
  },

  'lists the ids with a prefix, page by page, in byte order': async ({ open }) => {
    const counters = await open()
    const ids = ['a', 'a%', 'a%b', 'a*', 'a\\', 'a_b', 'ab', 'aé', 'a\ue000', 'a😀', 'b', 'A']
    await counters.incrementMany(ids.map((id, index) => [id, index + 1] as const))
    const inOrder = ids
      .filter((id) => id.startsWith('a'))
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    assert.deepEqual(
      (await counters.readMany('a')).map(({ id }) => id),
      inOrder,
    )
    assert.deepEqual(
      (await counters.readMany('a%')).map(({ id, value }) => [id, value]),
      [
        ['a%', 2],
        ['a%b', 3],
      ],
    )
    assert.deepEqual(
      (await counters.readMany('a_')).map(({ id }) => id),
      ['a_b'],
    )
    assert.deepEqual(
      (await counters.readMany('a\\')).map(({ id }) => id),
      ['a\\'],
    )
    const pages: string[] = []
    let after: string | undefined
    do {
      const page = await counters.readMany('a', { limit: 2, after })
      pages.push(...page.map(({ id }) => id))
      after = page.at(-1)?.id
    } while (after !== undefined)
    assert.deepEqual(pages, inOrder)
  },

  'sums the counters with a prefix': async ({ open }) => {
    const [one, other] = [await open(), await open()]
    await one.incrementMany({ 'page:1': 10, 'page:2': 20, pag: 100 })
    await other.incrementMany({ 'page:2': 5, 'page:3': -1 })
    await one.flush()
    assert.equal(await other.aggregate('page:'), 34)
    assert.equal(await other.aggregate('page:', 'sum'), 34)
    assert.equal(await other.aggregate(''), 134)
    assert.equal(await other.aggregate('none'), 0)
  },

  'does not apply increments from before a reset, wherever they were queued': async ({ open, clock }) => {
    const [one, other] = [await open(), await open()]
    await one.increment('a', 100, { durable: true })
    await one.increment('a', 10)
    await other.increment('a', 1)
    clock.advance(500)
    await one.reset('a')
    assert.equal((await one.read('a')).value, 0)
    await other.flush()
    await one.flush()
    assert.equal((await one.read('a', { maxAgeMs: 0 })).value, 0)
    assert.equal((await other.read('a', { maxAgeMs: 0 })).value, 0)
    await other.increment('a', 3)
    await other.flush()
    assert.equal((await one.increment('a', 4, { durable: true })).value, 7)
  },

  'does not list a deleted counter until it is counted again': async ({ open }) => {
    const counters = await open()
    await counters.incrementMany({ a: 1, b: 2 })
    await counters.delete('a')
    await counters.delete('never')
    assert.deepEqual(
      (await counters.readMany('')).map(({ id }) => id),
      ['b'],
    )
    assert.equal((await counters.read('a')).value, 0)
    await counters.increment('a', 3)
    assert.deepEqual(
      (await counters.readMany('')).map(({ id, value }) => [id, value]),
      [
        ['a', 3],
        ['b', 2],
      ],
    )
  },

  'resets many counters at once, while they are counted': async ({ open }) => {
    const [one, other] = [await open(), await open()]
    const ids = ['a', 'b', 'c']
    await one.incrementMany({ a: 1, b: 1, c: 1 })
    await Promise.all(ids.flatMap((id) => [one.reset(id), other.reset(id), one.reset(id)]))
    await one.flush()
    assert.equal(await other.aggregate(''), 0)
    await one.incrementMany({ a: 1, b: 1, c: 1 })
    assert.equal(await one.aggregate(''), 3)
  },

  'rejects calls after close, and has flushed all earlier ones': async ({ open }) => {
    const [one, other] = [await open(), await open()]
    await one.increment('a', 3)
    await one.close()
    await one.close()
    assert.equal((await other.read('a')).value, 3)
    await assert.rejects(one.increment('a'), { code: 'SLUICE_COUNTERS_CLOSED' })
    await assert.rejects(one.read('a'), { code: 'SLUICE_COUNTERS_CLOSED' })
    await assert.rejects(one.readMany(''), { code: 'SLUICE_COUNTERS_CLOSED' })
  },
}

/** Resolves once `isSo` returns true; gives up after many reads, each a round trip. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let reads = 0; reads < 1_000; reads++) {
    if (await isSo()) return
    await new Promise<void>((resolve) => afterThisTurn(resolve))
  }
  assert.fail('it did not come about')
}
