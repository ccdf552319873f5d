import { describe, expect, test } from '@jest/globals'
import { type Counters, createCounters, MemoryLedger, shardedCounters } from '@sluice/counters'
import { counterContract, eachSeed, FakeClock, hostileKeys, seededRandom } from '@sluice/testkit'

const LARGEST = Number.MAX_SAFE_INTEGER

/** Chooses the given shards one after the other. */
function taking(shards: readonly number[], of: number): () => number {
  let next = 0
  return () => shards[next++ % shards.length] / of
}

function opened({ shards = 4, random = seededRandom(1).next }: { shards?: number; random?: () => number } = {}): {
  readonly inner: Counters
  readonly counters: Counters
  more(shards: number): Counters
} {
  const clock = new FakeClock()
  const ledger = new MemoryLedger(clock)
  const inner = createCounters({ ledger, clock })
  const more = (of: number): Counters => shardedCounters(createCounters({ ledger, clock }), { shards: of, random })
  return { inner, counters: shardedCounters(inner, { shards, random }), more }
}

describe.each([1, 3, 16])('counters in %i shards', (shards) => {
  counterContract(
    { describe, test },
    (clock) => {
      const ledger = new MemoryLedger(clock)
      const { next } = seededRandom(shards)
      return {
        open: () => shardedCounters(createCounters({ ledger, clock }), { shards, random: next }),
        close: () => ledger.close(),
      }
    },
    { durable: false },
  )
})

describe('sharded counters', () => {
  test('return the sum of their shards', async () => {
    const { counters, inner } = opened({ random: taking([0, 1, 2, 3], 4) })
    for (const units of [123_456, 234_567, 345_678, 456_789]) await counters.increment('page', units)
    expect((await counters.read('page')).value).toBe(1_160_490)
    const shards = await inner.readMany('')
    expect(shards.map(({ value }) => value)).toEqual([123_456, 234_567, 345_678, 456_789])
    expect((await counters.readMany('pa')).map(({ id, value }) => [id, value])).toEqual([['page', 1_160_490]])
  })

  test('spread the writes of one id evenly', async () => {
    await eachSeed(3, async ({ next }) => {
      const { counters, inner } = opened({ shards: 8, random: next })
      for (let n = 0; n < 4_000; n++) await counters.increment('hot')
      const shards = (await inner.readMany('')).map(({ value }) => value)
      expect(shards.length).toBe(8)
      // 500 each, within five standard deviations of a binomial of 1/8
      for (const value of shards) expect(Math.abs(value - 500)).toBeLessThan(105)
    })
  })

  test('return consistent values for concurrent calls', async () => {
    const { counters } = opened()
    const receipts = await Promise.all(Array.from({ length: 100 }, () => counters.increment('a')))
    expect(Math.max(...receipts.map(({ value }) => value))).toBe(100)
  })

  test('do not affect other counters of the same ledger, whatever their ids', async () => {
    const { counters, inner } = opened({ random: () => 0 })
    const ids = ['a', 'a\u000100', 'a\u0001', 's', '\u0002s', '\ufffd', '\ud800', '\ufffd\0', '\udfff\u0002']
    for (const [n, id] of ids.entries()) {
      await inner.increment(id, 1_000)
      await counters.increment(id, n + 1)
    }
    for (const [n, id] of ids.entries()) {
      expect([id, (await counters.read(id)).value, (await inner.read(id)).value]).toEqual([id, n + 1, 1_000])
    }
    expect(await counters.aggregate('')).toBe(45)
    expect((await counters.readMany('')).map(({ id }) => id).sort()).toEqual([...ids].sort())
    expect((await counters.readMany('\ufffd')).map(({ id }) => id)).toEqual(['\ufffd', '\ufffd\0'])
  })

  test('page through arbitrary ids, each once, even if a page ends between the shards of an id', async () => {
    const ids = hostileKeys.filter((id) => id !== '' && Buffer.byteLength(id) <= 256)
    const long = ['\0'.repeat(256), '\u0001'.repeat(256), '\\'.repeat(256), 'é'.repeat(128), '\ud800'.repeat(85)]
    const all = [...ids, ...long]
    for (const limit of [1, 2, 3, 7]) {
      const { counters } = opened({ shards: 5, random: seededRandom(limit).next })
      for (const id of all) for (let n = 0; n < 7; n++) await counters.increment(id)
      const listed: (readonly [string, number])[] = []
      let after: string | undefined
      do {
        const page = await counters.readMany('', { limit, after })
        expect(page.length).toBeLessThanOrEqual(limit)
        listed.push(...page.map(({ id, value }) => [id, value] as const))
        after = page.at(-1)?.id
      } while (after !== undefined)
      expect(listed.length).toBe(all.length)
      expect(new Map(listed)).toEqual(new Map(all.map((id) => [id, 7])))
    }
  })

  test('count in a shard with room if another shard is full', async () => {
    const { counters } = opened({ random: () => 0 })
    await counters.increment('a', LARGEST)
    await counters.increment('a', -LARGEST)
    await counters.increment('a', -1)
    expect((await counters.increment('a', LARGEST)).value).toBe(LARGEST - 1)
    const sent = await Promise.allSettled([1, 1, 1].map((delta) => counters.increment('a', delta)))
    expect(sent.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect((await counters.read('a')).value).toBe(LARGEST)
  })

  test('count a token in one shard, which every process chooses', async () => {
    const { more } = opened()
    const [one, other] = [more(4), more(4)]
    for (let n = 0; n < 20; n++) {
      const options = { token: `order ${n}` }
      expect((await one.increment('a', 1, options)).counted).toBe(true)
      expect((await other.increment('a', 1, options)).counted).toBe(false)
    }
    expect((await other.read('a', { maxAgeMs: 0 })).value).toBe(20)
  })

  test('never count a token twice if the number of shards grew in between, and keep earlier counts', async () => {
    const { more } = opened()
    const [before, after] = [more(4), more(16)]
    for (let n = 0; n < 20; n++) await before.increment('a', 1, { token: `order ${n}` })
    for (let n = 0; n < 20; n++) {
      const again = await after.increment('a', 1, { token: `order ${n}` }).catch(({ code }: { code: string }) => code)
      const counted = typeof again === 'string' ? again : again.counted
      expect([false, 'SLUICE_TOKEN_REUSED']).toContain(counted)
    }
    expect((await after.read('a', { maxAgeMs: 0 })).value).toBe(20)
  })

  test('reject invalid options with an error code', () => {
    const { inner } = opened()
    for (const options of [{ shards: 0 }, { shards: 257 }, { shards: 1.5 }, { random: 1 }, { shard: 8 }]) {
      expect(() => shardedCounters(inner, options as object)).toThrow(
        expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }),
      )
    }
  })
})
