import { describe, expect, test } from '@jest/globals'
import { createInflightLimiter, type InflightLimiterOptions, type LocalInflightLimiter } from '@sluice/limiter-core'
import { adaptive } from '@sluice/overload'
import { FakeClock } from '@sluice/testkit'

const clock = new FakeClock()

function capOf(options: Partial<InflightLimiterOptions> = {}): LocalInflightLimiter {
  const limit = adaptive({ min: 2, max: 8, initial: 4 })
  return createInflightLimiter({ limit, clock, ...options } as never) as LocalInflightLimiter
}

/** Completes `rounds` rounds of as much work as fits, each of which takes `ms`. */
function work(
  cap: LocalInflightLimiter,
  key: string | undefined,
  rounds: number,
  ms: number,
  outcome = 'success',
): void {
  for (let round = 0; round < rounds; round++) {
    const permits = []
    for (let permit = cap.acquire(key); permit; permit = cap.acquire(key)) permits.push(permit)
    clock.advance(ms)
    for (const permit of permits) permit.release(outcome as 'success')
  }
}

describe('a cap with an adaptive limit', () => {
  test('starts with the initial limit, and applies what it has learned', () => {
    const cap = capOf()
    expect(cap.limit).toBe(4)
    work(cap, undefined, 200, 10)
    expect(cap.limit).toBeGreaterThan(4)
    const permits = Array.from({ length: 10 }, () => cap.acquire())
    expect(permits.filter(Boolean)).toHaveLength(cap.limit)
  })

  test('learns one limit for each key', () => {
    const cap = capOf()
    work(cap, 'a', 200, 10)
    expect(cap.limitOf('a')).toBeGreaterThan(4)
    expect(cap.limitOf('b')).toBe(4)
  })

  test('learns nothing from work that was dropped', () => {
    const cap = capOf()
    work(cap, undefined, 200, 10, 'dropped')
    expect(cap.limit).toBe(4)
  })

  test('reports the limit that applies to observers', () => {
    const limits: number[] = []
    const cap = capOf({ observers: [{ permitAcquired: (_key, { limit }) => void limits.push(limit) }] })
    work(cap, undefined, 100, 10)
    expect(limits[0]).toBe(4)
    expect(limits.at(-1)).toBe(cap.limit)
  })

  test('refuses a weight above the limit for now, and one above the maximum forever', () => {
    const cap = capOf()
    expect(cap.acquire('a', { weight: 4 })).toBeDefined()
    expect(cap.acquire('b', { weight: 5 })).toBeUndefined()
    expect(cap.acquire('b', { weight: 9 })).toBeUndefined()
  })

  test('forgets the keys that were used the longest time ago', () => {
    const cap = capOf({ limit: adaptive({ min: 2, max: 8, initial: 4, maxKeys: 2 }) })
    for (const key of ['a', 'b', 'a', 'c']) work(cap, key, 200, 10)
    expect(['a', 'b', 'c'].map((key) => cap.limitOf(key) > 4)).toEqual([true, false, true])
  })

  test('is fixed while an operator has set a limit', () => {
    const cap = capOf({ observers: [{ capOpened: (handle) => handle.control({ limit: 3, blockedMs: () => 0 }) }] })
    expect(cap.limit).toBe(3)
    work(cap, undefined, 200, 10)
    expect(cap.limit).toBe(3)
  })
})

test.each([
  [{ min: 0 }, 'adaptive: min: expected an integer from 1'],
  [{ min: 9, max: 8 }, 'adaptive: max: expected at least 9 (min), received 8'],
  [{ min: 5, initial: 4 }, 'adaptive: initial: expected 5 to 500, received 4'],
  [{ algorithm: 'bbr' }, "algorithm: expected one of 'throughput', 'gradient', 'vegas', 'aimd', received \"bbr\""],
  [{ algorithm: 'aimd' }, 'adaptive: timeout: expected the mean duration of work'],
  [{ timeout: '1s' }, 'adaptive: timeout: expected only with aimd'],
  [{ target: {} }, "adaptive: target: expected one quantile, such as { p95: '250ms' }, received"],
  [{ target: { p50: '1s', p99: '2s' } }, 'adaptive: target: expected one quantile'],
  [{ target: { p75: '1s' } }, 'its options are p50, p90, p95, p99'],
  [{ target: { p95: 0 } }, 'adaptive: target.p95'],
  [{ target: { p95: '1s' }, algorithm: 'vegas' }, 'adaptive: algorithm: expected none with target'],
  [{ maxKeys: 0 }, 'adaptive: maxKeys: expected an integer from 1'],
  [{ maximum: 3 }, 'adaptive: expected one of min, max, initial, algorithm, timeout, target, maxKeys'],
])('adaptive(%j) is refused', (options, message) => {
  expect(() => adaptive(options as never)).toThrow(message)
})

test('a backend that does not share limits is refused, and so is an object without a limit', () => {
  const backend = { acquire: () => ({ allowed: false, retryAfterMs: 1 }) as const }
  expect(() => createInflightLimiter({ limit: adaptive(), backend })).toThrow('one that shares learned limits')
  expect(() => createInflightLimiter({ limit: {} as never })).toThrow('limit: expected an integer from 1')
})
