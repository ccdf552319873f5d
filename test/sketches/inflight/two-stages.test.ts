import { describe, expect, test } from '@jest/globals'
import type { Cap, InflightBackend, Permit } from '@sluice/limiter-core'
import { sketchInflight } from '@sluice/sketches/limits'
import { FakeClock } from '@sluice/testkit'

// one cell, which all keys share: every key observes what the second stage does not count
const shared = { rows: 1, slots: 1, seed: 'the seed of this test' }
const cap: Cap = { name: 'report', limit: 10 }

function taken(backend: InflightBackend, key: string, times: number, weight = 1): Permit[] {
  const permits = Array.from({ length: times }, () => backend.acquire(key, { cap, weight }) as Permit)
  expect(permits.filter((permit) => 'release' in permit)).toHaveLength(times)
  return permits
}

function free(backend: InflightBackend, key: string): number {
  const permits: Permit[] = []
  for (let answer = backend.acquire(key, { cap }); 'release' in answer; answer = backend.acquire(key, { cap })) {
    permits.push(answer as Permit)
  }
  for (const permit of permits) permit.release()
  return permits.length
}

describe('permits of a key above the trigger', () => {
  test('are not charged to other keys, unlike without a trigger', () => {
    for (const [trigger, left] of [
      [undefined, 0],
      [3, 7],
      [0.5, 5],
      [0.41, 5],
    ]) {
      const backend = sketchInflight({ ...shared, trigger })
      taken(backend, 'heavy', 10)
      expect(free(backend, 'other')).toBe(left)
    }
  })

  test('are all of its permits if a single permit weighs more than the trigger', () => {
    const backend = sketchInflight({ ...shared, trigger: 3 })
    taken(backend, 'heavy', 1, 4)
    expect(free(backend, 'other')).toBe(10)
  })
})

describe('a key that is counted exactly', () => {
  test('is charged with the noise of other keys at the time of its first exact permit at most', () => {
    const backend = sketchInflight({ ...shared, trigger: 4 })
    taken(backend, 'early', 2)
    // 2 of other keys, 2 of its own, and exact from here on
    taken(backend, 'key', 5)
    expect(backend.count?.('key', cap)).toBe(7)
    taken(backend, 'late', 1)
    expect(backend.count?.('key', cap)).toBe(7)
    taken(backend, 'key', 3)
    expect(backend.acquire('key', { cap })).toHaveProperty('allowed', false)
  })

  test('is charged with less noise as soon as the sketch reports less', () => {
    const backend = sketchInflight({ ...shared, trigger: 4 })
    const early = taken(backend, 'early', 3)
    taken(backend, 'key', 3)
    expect(backend.count?.('key', cap)).toBe(6)
    for (const permit of early) permit.release()
    expect(backend.count?.('key', cap)).toBe(3)
    expect(free(backend, 'key')).toBe(7)
  })

  test('recovers its earlier permits, whatever other keys hold by then', () => {
    const backend = sketchInflight({ ...shared, trigger: 4 })
    const first = taken(backend, 'key', 4)
    taken(backend, 'key', 2)
    for (const permit of first.slice(0, 3)) {
      permit.release()
      permit.release()
    }
    taken(backend, 'late', 3)
    // 1 of the first four, and 2 taken later: the 4 in the cell are mostly from the other key
    expect(backend.count?.('key', cap)).toBe(3)
    first[3].release()
    expect(backend.count?.('key', cap)).toBe(2)
  })

  test('is removed when its exact permits are released, and is then counted by the sketch again', () => {
    const backend = sketchInflight({ ...shared, trigger: 4 })
    const first = taken(backend, 'key', 4)
    const exact = taken(backend, 'key', 2)
    for (const permit of exact) permit.release()
    expect(backend.count?.('key', cap)).toBe(4)
    first[0].release()
    const late = taken(backend, 'late', 1)
    expect(backend.count?.('key', cap)).toBe(4)
    for (const permit of [...first, ...late]) permit.release()
    expect(backend.count?.('key', cap)).toBe(0)
  })
})

test('an expired permit is released in the stage that counted it', () => {
  const clock = new FakeClock()
  const backend = sketchInflight({ ...shared, trigger: 2, clock })
  const bound: Cap = { ...cap, maxHoldMs: 1_000 }
  for (let one = 0; one < 6; one++) backend.acquire('key', { cap: bound })
  expect(backend.count?.('key', bound)).toBe(6)
  clock.advance(1_000)
  expect([backend.count?.('key', bound), backend.count?.('other', bound)]).toEqual([0, 0])
})

test('a count that a cell cannot hold is denied, so that every release can be applied', () => {
  const backend = sketchInflight(shared)
  const large: Cap = { name: 'units', limit: 2 ** 40 }
  const most = backend.acquire('key', { cap: large, weight: 2 ** 31 - 2 }) as Permit
  expect(most).toHaveProperty('release')
  expect(backend.acquire('key', { cap: large })).toHaveProperty('allowed', false)
  expect(backend.acquire('other', { cap: large, weight: 2 ** 39 })).toHaveProperty('allowed', false)
  most.release()
  expect(backend.count?.('key', large)).toBe(0)
})

test('the second stage counts beyond the cell maximum', () => {
  const backend = sketchInflight({ ...shared, trigger: 5 })
  const large: Cap = { name: 'units', limit: 2 ** 40 }
  const permits = [1, 2].map(() => backend.acquire('key', { cap: large, weight: 2 ** 39 }) as Permit)
  expect(backend.count?.('key', large)).toBe(2 ** 40)
  expect(backend.acquire('key', { cap: large })).toHaveProperty('allowed', false)
  for (const permit of permits) permit.release()
  expect(backend.count?.('key', large)).toBe(0)
})

test.each(['__proto__', '\u0000', '\ud800', 'constructor', ''])('any string can be a key: %j', (key) => {
  const backend = sketchInflight({ trigger: 1 })
  const permits = taken(backend, key, 10)
  expect(backend.acquire(key, { cap })).toHaveProperty('allowed', false)
  for (const permit of permits) permit.release()
  expect(backend.count?.(key, cap)).toBe(0)
})
