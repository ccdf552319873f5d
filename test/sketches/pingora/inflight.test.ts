import { describe, expect, test } from '@jest/globals'
import { Inflight, type InflightPermit } from '@sluice/sketches'
import { eachSeed } from '@sluice/testkit'
import { codeOf } from '../contract/sketch-contract.ts'

test('the test of pingora-limits, inflight_count: 1, 3, then 2, then 1 of a fresh one', () => {
  const inflight = new Inflight()
  const first = inflight.incr('a', 1)
  const second = inflight.incr('a', 2)
  expect([first.count, second.count]).toEqual([1, 3])
  first.release()
  expect(inflight.get('a')).toBe(2)
  second.release()
  expect(inflight.incr('a', 1).count).toBe(1)
})

describe('a permit', () => {
  test('releases its count once, however often it is released', () => {
    const inflight = new Inflight()
    inflight.incr('a', 5)
    const permit = inflight.incr('a', 2)
    permit.release()
    permit.release()
    permit[Symbol.dispose]()
    expect(inflight.get('a')).toBe(5)
  })

  test('releases what it counted, even if its count is overwritten', () => {
    const inflight = new Inflight()
    const permit = inflight.incr('a', 2)
    expect(Object.keys(permit)).toEqual(['count'])
    const taken = permit as { count: number }
    taken.count = 99
    permit.release()
    expect(inflight.get('a')).toBe(0)
  })

  test('does not depend on the key object, which can be changed while the permit is held', () => {
    const inflight = new Inflight()
    const bytes = new Uint8Array([1, 2, 3])
    const permit = inflight.incr(bytes)
    // if the permit had kept the bytes, it would now release another key
    bytes.fill(9)
    expect([inflight.get(new Uint8Array([1, 2, 3])), inflight.get(bytes)]).toEqual([1, 0])
    permit.release()
    expect(inflight.get(new Uint8Array([1, 2, 3]))).toBe(0)
  })

  test('can have the amount 0', () => {
    const inflight = new Inflight()
    const permit = inflight.incr('a', 0)
    expect(permit.count).toBe(0)
    permit.release()
    expect(inflight.get('a')).toBe(0)
  })
})

test('never returns less than the amount in flight, and 0 for every key once all permits are released', () =>
  eachSeed(40, (random, seed) => {
    const slots = 1 + random.whole(20)
    const inflight = new Inflight({ rows: 1 + random.whole(5), slots, seed: `the seed of run ${seed} of a test` })
    const held: { readonly key: string; readonly value: number; readonly permit: InflightPermit }[] = []
    const inFlight = (key: string): number => held.reduce((sum, one) => sum + (one.key === key ? one.value : 0), 0)
    for (let done = 0; done < 300; done++) {
      const key = `key ${random.whole(30)}`
      if (random.whole(5) < 2 && held.length > 0) {
        const { permit } = held.splice(random.whole(held.length), 1)[0]
        permit.release()
        if (random.whole(2) === 0) permit.release()
      } else {
        const value = random.whole(4)
        const permit = inflight.incr(key, value)
        held.push({ key, value, permit })
        expect(permit.count).toBeGreaterThanOrEqual(inFlight(key))
      }
      expect(inflight.get(key)).toBeGreaterThanOrEqual(inFlight(key))
    }
    for (const { permit } of held) permit.release()
    for (let key = 0; key < 30; key++) expect(inflight.get(`key ${key}`)).toBe(0)
  }))

test('a full count stays full, so that unknown counts are never too small', () => {
  const inflight = new Inflight()
  const most = inflight.incr('a', 2 ** 31 - 1)
  const more = inflight.incr('a', 10)
  expect(more.count).toBe(2 ** 31 - 1)
  most.release()
  expect(inflight.get('a')).toBe(2 ** 31 - 1)
})

test('rejects wrong amounts and options with an error code', () => {
  const inflight = new Inflight()
  for (const value of [-1, 1.5, Number.NaN]) {
    expect(codeOf(() => inflight.incr('a', value))).toBe('SLUICE_BAD_AMOUNT')
  }
  expect(inflight.get('a')).toBe(0)
  for (const options of [{ rows: 0 }, { slots: 0.5 }, { clock: 1 }, null]) {
    expect(codeOf(() => new Inflight(options as object))).toBe('SLUICE_BAD_OPTION')
  }
})
