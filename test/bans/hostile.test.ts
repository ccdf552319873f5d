import { describe, expect, test } from '@jest/globals'
import { type BanInput, createLimiter, type Decision, type Limiter, memoryBackend } from '@sluice/limiter-core'
import { FakeClock, hostileKeys } from '@sluice/testkit'

const DAY_MS = 86_400_000

function limiterWith(clock: FakeClock, ban: BanInput): Limiter<Decision> {
  return createLimiter({ name: 'api', limit: 1, window: '1s', backend: memoryBackend({ clock }), clock, ban })
}

/** Bans the key and returns the duration of the ban in ms. */
function banned(limiter: Limiter<Decision>, clock: FakeClock): number {
  const { retryAfterMs } = [limiter.take('a'), limiter.take('a')][1]
  clock.advance(retryAfterMs)
  return retryAfterMs
}

describe('extreme terms of bans', () => {
  test('one strike bans, and all bans are equally long without growth', () => {
    const clock = new FakeClock({ nowMs: 5_000 })
    const limiter = limiterWith(clock, { after: 1, within: '1ms', for: '1ms' })
    const all = Array.from({ length: 5 }, () => {
      clock.advance(1_000)
      return banned(limiter, clock)
    })
    // each denial names the wait of the limit, which is longer than the ban
    expect(all).toEqual([1_000, 1_000, 1_000, 1_000, 1_000])
  })

  test('the longest possible ban ends to the millisecond', () => {
    const clock = new FakeClock({ nowMs: 5_000.25 })
    const limiter = limiterWith(clock, { after: 1, within: '1m', for: '366d' })
    expect([limiter.take('a'), limiter.take('a')][1].retryAfterMs).toBe(366 * DAY_MS)
    clock.advance(366 * DAY_MS - 1)
    expect(limiter.take('a', 0).source).toBe('banned')
    clock.advance(1)
    expect(limiter.take('a').allowed).toBe(true)
  })

  test('a growth beyond all numbers leads to the longest ban', () => {
    const clock = new FakeClock({ nowMs: 5_000 })
    const limiter = limiterWith(clock, { after: 1, within: '1m', for: '1s', growth: 1e308, max: '1h' })
    expect([banned(limiter, clock), banned(limiter, clock), banned(limiter, clock)]).toEqual([
      1_000, 3_600_000, 3_600_000,
    ])
  })

  test('a fractional growth rounds each ban to whole milliseconds', () => {
    const clock = new FakeClock({ nowMs: 5_000 })
    const limiter = limiterWith(clock, { after: 1, within: '1m', for: '1001ms', growth: 1.25, max: '1h' })
    expect([banned(limiter, clock), banned(limiter, clock), banned(limiter, clock)]).toEqual([1_001, 1_251, 1_564])
  })

  test('keys of all kinds are banned separately', () => {
    const clock = new FakeClock({ nowMs: 5_000 })
    const limiter = limiterWith(clock, { after: 1, within: '1m', for: '1h' })
    for (const key of hostileKeys) {
      expect(limiter.take(key).allowed).toBe(true)
      expect(limiter.take(key).allowed).toBe(false)
      expect(limiter.take(key).source).toBe('banned')
    }
  })

  test('a limiter without a clock bans by the time of its backend', () => {
    const clock = new FakeClock({ nowMs: 5_000 })
    const ban: BanInput = { after: 1, within: '1m', for: '1h' }
    const limiter = createLimiter({ name: 'api', limit: 1, window: '1s', backend: memoryBackend({ clock }), ban })
    limiter.take('a')
    expect(limiter.take('a').retryAfterMs).toBe(3_600_000)
    clock.advance(3_600_000)
    expect(limiter.take('a').allowed).toBe(true)
  })
})
