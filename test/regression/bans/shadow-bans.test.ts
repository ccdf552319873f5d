import { expect, test } from '@jest/globals'
import { createLimiter, memoryBackend } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { PromisedBackend } from '../../contracts/async-backend.ts'

test.each([
  ['in memory', (clock: FakeClock) => memoryBackend({ clock })],
  ['asynchronous', (clock: FakeClock) => new PromisedBackend(clock)],
])('a ban of a policy in shadow mode does not stop the strikes of an enforced policy: %s', async (_, backendOf) => {
  const clock = new FakeClock({ nowMs: 1_000 })
  const limiter = createLimiter({
    policies: [
      { name: 'tried', limit: 1, window: '1m', mode: 'shadow', ban: { after: 1, within: '1m', for: '10m' } },
      { name: 'enforced', limit: 5, window: '1m', ban: { after: 3, within: '1m', for: '10m' } },
    ],
    clock,
    backend: backendOf(clock),
  })
  const takes: string[] = []
  for (let times = 0; times < 9; times++) {
    const { allowed, verdicts } = await limiter.take('a')
    takes.push(`${allowed} ${verdicts.map(({ policy }) => policy.name).join()}`)
    for (let turn = 0; turn < 40; turn++) await undefined
  }
  expect(takes.slice(0, 7)).toEqual([
    ...Array.from({ length: 5 }, () => 'true tried,enforced'),
    ...Array.from({ length: 2 }, () => 'false tried,enforced'),
  ])
  expect((await limiter.take('a')).source).toBe('banned')
})
