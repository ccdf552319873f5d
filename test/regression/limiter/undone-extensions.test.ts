import { expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { createLimiter, memoryBackend, type PolicyInput } from '@sluice/limiter-core'
import { createQuotas, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'

// an extension that one policy allows and the next one denies is undone: all of it, if the hold was over

const MINUTE_MS = 60_000
const KINDS = ['memory', 'quotas'] as const

function policyOf(kind: (typeof KINDS)[number], name: string, clock: FakeClock): PolicyInput {
  const maxHoldMs = 8 * MINUTE_MS
  if (kind === 'memory') return { name, limit: 50, window: '1h', maxHoldMs, backend: memoryBackend({ clock }) }
  const backend = createQuotas(new MemoryLedger(clock), { clock, serverTime: () => clock.wall() })
  return quota({ name, limit: 50, per: 'month', maxHoldMs, backend })
}

test.each(
  KINDS.flatMap((kind) => [
    { kind, passedMs: 10 * MINUTE_MS, title: 'that is over leaves nothing held', left: 50 },
    { kind, passedMs: 2 * MINUTE_MS, title: 'that is not over keeps the hold', left: 30 },
  ]),
)('a denied extension of a hold $title: $kind', async ({ kind, passedMs, left }) => {
  const clock = new FakeClock({ wallMs: Date.UTC(2026, 10, 1) })
  const policies = ['first', 'second'].map((name) => policyOf(kind, name, clock))
  const limiter = createLimiter({ policies, clock, deadlineMs: 60_000 })
  const remaining = async (): Promise<readonly number[]> => {
    const { verdicts } = await limiter.peek('a')
    return verdicts.map((verdict) => verdict.remaining)
  }
  const hold = await limiter.hold('a', { reserve: 20 })
  clock.advance(passedMs)
  expect(await hold.extend({ first: 1, second: 40 })).toBe(false)
  expect(await remaining()).toEqual([left, left])
  await hold.settle(5)
  expect(await remaining()).toEqual([45, 45])
})
