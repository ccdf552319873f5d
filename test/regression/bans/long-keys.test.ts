import { describe, expect, test } from '@jest/globals'
import { createLimiter, type Limiter, type PolicyInput } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { PromisedBackend } from '../../contracts/async-backend.ts'

// a process remembers strikes and bans of keys of any length, such as access tokens

function benchOf(policy: PolicyInput): { readonly clock: FakeClock; readonly limiter: Limiter } {
  const clock = new FakeClock({ nowMs: 1_000 })
  return { clock, limiter: createLimiter({ policies: [policy], clock, backend: new PromisedBackend(clock) }) }
}

/** Lets calls that no take waits for end. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 40; turn++) await undefined
}

describe.each([128, 129, 5_000])('a key of %d characters', (length) => {
  const key = 'x'.repeat(length)

  test('is not banned if each second failure is followed by a success', async () => {
    const ban = { after: 3, within: '1m', for: '10m', strikes: 'failures', forgiveOn: 'success' } as const
    const { limiter } = benchOf({ limit: 100, window: '1m', ban })
    for (let times = 0; times < 12; times++) {
      expect((await limiter.take(key)).source).toBe('promised')
      await limiter.report(key, times % 3 === 2 ? 'success' : 'failure')
    }
  })

  test('extends its ban with each request', async () => {
    const ban = { after: 1, within: '1m', for: '1m', extend: true } as const
    const { clock, limiter } = benchOf({ limit: 1, window: '1s', ban })
    await limiter.take(key)
    await limiter.take(key)
    await settled()
    for (let seconds = 0; seconds < 120; seconds += 10) {
      clock.advance(10_000)
      expect((await limiter.take(key)).source).toBe('banned')
      await settled()
    }
    clock.advance(60_000)
    expect((await limiter.take(key)).source).toBe('promised')
  })
})

test('long keys with the same beginning are remembered apart', async () => {
  const ban = { after: 1, within: '1m', for: '1m' } as const
  const { limiter } = benchOf({ limit: 1, window: '1s', ban })
  const [banned, other] = ['1', '2'].map((end) => 'x'.repeat(500) + end)
  await limiter.take(banned)
  await limiter.take(banned)
  await settled()
  expect((await limiter.take(banned)).source).toBe('banned')
  expect(await limiter.take(other)).toMatchObject({ allowed: true, source: 'promised' })
})
