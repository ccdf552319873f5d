import { afterEach, expect, test } from '@jest/globals'
import { closeBenches, type FailoverBench, failoverBench, openBreaker, settled } from '../../failover/flaky-backend.ts'

afterEach(closeBenches)

const readings: [string, (one: FailoverBench) => number][] = [
  ['was taken before a slow key function', ({ clock }) => clock.now() - 200],
  ['is a date', ({ clock }) => clock.now() + 1.7e12],
  ['is not a number', () => Number.NaN],
  ['is infinite', () => Number.POSITIVE_INFINITY],
]

test.each(readings)('a recovered backend is detected if the clock reading %s', async (_name, reading) => {
  const one = failoverBench()
  const limiter = one.limiter()
  await openBreaker(one, limiter)
  await limiter.take('another', 1, { now: reading(one) })
  expect(one.flaky.calls()).toEqual([])
  one.clock.advance(1_000)
  for (let asked = 0; asked < 3; asked++) limiter.take('another', 1, { now: reading(one) })
  expect(one.flaky.calls()).toEqual(['peek'])
  await settled()
  expect((await limiter.take('key', 1, { now: reading(one) })).counted).toBe(true)
})
