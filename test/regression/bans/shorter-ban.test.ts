import { expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

// a ban is a unit in a window of years, and the unit of a shorter ban is older than the one that is counted
test('a strike during a longer ban does not make the ban longer', async () => {
  const clock = new FakeClock()
  const ban = { after: 1, within: '30s', for: '10s', max: '1m', strikes: 'failures' } as const
  const limiter = createLimiter({ policies: [{ name: 'login', limit: 5, window: '1m', ban }], clock })
  await limiter.ban('key', 60_000)
  await limiter.report('key', 'failure')
  expect(limiter.peek('key')).toMatchObject({ source: 'banned', retryAfterMs: 60_000 })
  clock.advance(59_999)
  expect(limiter.take('key').allowed).toBe(false)
  clock.advance(1)
  expect(limiter.take('key').allowed).toBe(true)
  limiter.close()
})
