import { expect, test } from '@jest/globals'
import { createLimiter, memoryBackend } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { PromisedBackend } from '../../contracts/async-backend.ts'

test.each([
  ['in memory', (clock: FakeClock) => memoryBackend({ clock })],
  ['asynchronous', (clock: FakeClock) => new PromisedBackend(clock)],
])('a denied extension of a hold is not a strike, because its request was allowed: %s', async (_, backendOf) => {
  const clock = new FakeClock({ nowMs: 1_000 })
  const ban = { after: 2, within: '1m', for: '10m' } as const
  const policy = { name: 'p', limit: 10, window: '1m', maxHoldMs: '1m', ban } as const
  const limiter = createLimiter({ policies: [policy], clock, backend: backendOf(clock) })
  const hold = await limiter.hold('a', { reserve: 8 })
  for (let times = 0; times < 5; times++) expect(await hold.extend(5)).toBe(false)
  expect((await limiter.take('a', 2)).allowed).toBe(true)
  // requests that are denied are strikes
  for (let times = 0; times < 5; times++) await limiter.hold('a', { reserve: 1 })
  expect((await limiter.take('a')).source).toBe('banned')
})
