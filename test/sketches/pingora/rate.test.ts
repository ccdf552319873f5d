import { describe, expect, test } from '@jest/globals'
import { proportionalRate, Rate, type RateComponents } from '@sluice/sketches'
import { eachSeed, FakeClock } from '@sluice/testkit'
import { codeOf } from '../contract/sketch-contract.ts'

const KEY = 1

function everySecond(): { readonly clock: FakeClock; readonly rate: Rate } {
  const clock = new FakeClock()
  return { clock, rate: new Rate({ intervalMs: 1_000, clock }) }
}

describe('the tests of pingora-limits, to the last digit', () => {
  test('observe_rate: 3, 5, rate 0; 4, rate 5; rate 4; rate 0', () => {
    const { clock, rate } = everySecond()
    expect([rate.observe(KEY, 3), rate.observe(KEY, 2), rate.rate(KEY)]).toEqual([3, 5, 0])
    clock.advance(1_000)
    expect([rate.observe(KEY, 4), rate.rate(KEY)]).toEqual([4, 5])
    clock.advance(1_000)
    expect(rate.rate(KEY)).toBe(4)
    clock.advance(1_000)
    expect(rate.rate(KEY)).toBe(0)
  })

  test('observe_rate_custom_90_10: 4.5, 4.1, 0.4, 0', () => {
    const { clock, rate } = everySecond()
    const mostlyCurrent = ({ previousSamples, currentSamples, intervalMs }: RateComponents): number =>
      (previousSamples * 0.1 + currentSamples * 0.9) / (intervalMs / 1_000)
    expect([rate.observe(KEY, 3), rate.observe(KEY, 2)]).toEqual([3, 5])
    expect(rate.rateWith(KEY, mostlyCurrent)).toBe(4.5)
    clock.advance(1_000)
    expect(rate.observe(KEY, 4)).toBe(4)
    expect(rate.rateWith(KEY, mostlyCurrent)).toBe(4.1)
    clock.advance(1_000)
    expect(rate.rateWith(KEY, mostlyCurrent)).toBe(0.4)
    clock.advance(1_000)
    expect(rate.rateWith(KEY, mostlyCurrent)).toBe(0)
  })

  test('observe_rate_custom_proportional: 5; 5; 9; 5.25; 4; 2; 0', () => {
    const { clock, rate } = everySecond()
    const answers = [rate.observe(KEY, 3), rate.observe(KEY, 2), rate.rateWith(KEY, proportionalRate)]
    expect(answers).toEqual([3, 5, 5])
    clock.advance(500)
    expect([rate.rateWith(KEY, proportionalRate), rate.rate(KEY)]).toEqual([5, 0])
    clock.advance(500)
    expect([rate.observe(KEY, 4), rate.rateWith(KEY, proportionalRate)]).toEqual([4, 9])
    const later: number[] = []
    for (const ms of [750, 250, 500, 1_000]) {
      clock.advance(ms)
      later.push(rate.rateWith(KEY, proportionalRate))
    }
    expect(later).toEqual([5.25, 4, 2, 0])
  })
})

describe('intervals', () => {
  test('begin at the first call an interval or more after the start of the last one, to the millisecond', () => {
    const { clock, rate } = everySecond()
    rate.observe('a', 5)
    clock.advance(999)
    expect([rate.observe('a'), rate.rate('a')]).toEqual([6, 0])
    clock.advance(1)
    expect([rate.rate('a'), rate.observe('a')]).toEqual([6, 1])
  })

  test('are both empty after two intervals without a call, and not one millisecond earlier', () => {
    for (const [ms, left] of [
      [1_999, 5],
      [2_000, 0],
      [1e12, 0],
    ]) {
      const { clock, rate } = everySecond()
      rate.observe('a', 5)
      clock.advance(ms)
      expect(rate.rate('a')).toBe(left)
    }
  })

  test('advance with a call of any key', () => {
    const { clock, rate } = everySecond()
    rate.observe('a', 5)
    clock.advance(1_000)
    rate.rate('b')
    clock.advance(1_000)
    expect(rate.rate('a')).toBe(0)
  })

  test('after a gap continue from the call that ended it, which treats the previous counts as the last interval', () => {
    const { clock, rate } = everySecond()
    rate.observe('a', 4)
    clock.advance(1_500)
    expect(rate.rateWith('a', (components) => components)).toEqual({
      previousSamples: 4,
      currentSamples: 0,
      intervalMs: 1_000,
      currentIntervalFraction: 0,
    })
    clock.advance(999)
    expect(rate.rateWith('a', ({ currentIntervalFraction }) => currentIntervalFraction)).toBe(0.999)
    expect(rate.rate('a')).toBe(4)
    clock.advance(1)
    expect(rate.rate('a')).toBe(0)
  })

  test('are measured per second, however long they are', () => {
    const clock = new FakeClock()
    const rate = new Rate({ intervalMs: 250, clock })
    rate.observe('a', 10)
    clock.advance(250)
    expect([rate.rate('a'), rate.rateWith('a', proportionalRate)]).toEqual([40, 40])
  })
})

test('no event is lost between intervals: every event is counted in its reported interval, and then in the rate', () =>
  eachSeed(30, (random) => {
    const { clock, rate } = everySecond()
    let beganAt = 0
    let previous = 0
    let current = 0
    for (let done = 0; done < 300; done++) {
      clock.advance(random.pick([0, 0, 1, 250, 999, 1_000, 1_001, 1_999, 2_000]))
      const past = clock.now() - beganAt
      if (past >= 1_000) {
        previous = past >= 2_000 ? 0 : current
        current = 0
        beganAt = clock.now()
      }
      const n = random.whole(4)
      current += n
      expect(rate.observe('a', n)).toBe(current)
      expect(rate.rate('a')).toBe(previous)
    }
  }))

test('an explicit reading counts like a reading of the clock', () => {
  const rate = new Rate({ intervalMs: 1_000, clock: new FakeClock({ nowMs: 10_000 }) })
  rate.observe('a', 3, 10_500)
  expect(rate.rate('a', 11_499)).toBe(3)
  expect(rate.rateWith('a', proportionalRate, 11_749)).toBe(2.25)
})

test('a clock that steps back or returns an invalid reading changes nothing', () => {
  const rate = new Rate({ intervalMs: 1_000, clock: new FakeClock({ nowMs: 5_000 }) })
  rate.observe('a', 3)
  rate.observe('a', 4, 6_000)
  for (const nowMs of [0, -1e300, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    expect([rate.observe('a', 0, nowMs), rate.rate('a', nowMs)]).toEqual([4, 3])
    expect(rate.rateWith('a', ({ currentIntervalFraction }) => currentIntervalFraction, nowMs)).toBe(0)
  }
  expect(rate.rate('a', 7_000)).toBe(4)
})

test('a clock whose first reading is invalid works too', () => {
  const readings = [Number.NaN, 100, 1_100]
  const rate = new Rate({ intervalMs: 1_000, clock: { now: () => readings.shift() as number } })
  expect([rate.observe('a', 2), rate.rate('a')]).toEqual([2, 2])
})

test('rate queries inside a custom calculation do not change its input', () => {
  const { rate } = everySecond()
  rate.observe('a', 3)
  const answer = rate.rateWith('a', ({ currentSamples }) => [rate.observe('b', 7), currentSamples])
  expect(answer).toEqual([7, 3])
})

test('rejects a wrong amount before anything has changed', () => {
  const { clock, rate } = everySecond()
  rate.observe('a', 2)
  clock.advance(1_000)
  for (const n of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(codeOf(() => rate.observe('a', n))).toBe('SLUICE_BAD_AMOUNT')
  }
  clock.advance(999)
  expect([rate.rate('a'), rate.observe('a', 0)]).toEqual([2, 0])
})

test.each<[string, object]>([
  ['intervalMs', { intervalMs: 0 }],
  ['intervalMs', { intervalMs: undefined }],
  ['intervalMs', { intervalMs: Number.POSITIVE_INFINITY }],
  ['clock', { clock: undefined }],
  ['clock', { clock: null }],
  ['clock', { clock: { now: 5 } }],
  ['clock', { clock: 5 }],
  ['clock', { clock: { now: () => 5n } }],
  ['rows', { rows: 0 }],
  ['slots', { slots: -1 }],
  ['window', { window: '1s' }],
])('rejects an option by its name: %s', (name, options) => {
  const attempt = (): Rate => new Rate({ intervalMs: 1_000, clock: new FakeClock(), ...(options as object) })
  expect(attempt).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
  expect(attempt).toThrow(name)
})
