import { describe, expect, test } from '@jest/globals'
import { algorithms, type Policy } from '@sluice/limiter-core/backend'
import { baseSeed, PolicyDriver } from '@sluice/testkit'
import fc from 'fast-check'
import { algorithmNames, anyHistory, anyPolicy, type Event, unitsOf } from '../any-policy.ts'
import { keyOf } from '../compiled-of.ts'

/** Replays a history from a fractional start and returns when it ended. */
function live(key: PolicyDriver, policy: Policy, history: readonly Event[], startMs: number): number {
  let now = startMs
  for (const { waitMs, kind, size, refund } of history) {
    now += waitMs * policy.windowMs
    const units = unitsOf(size, key.compiled.capacity)
    if (kind === 'adjust') key.adjust(now, refund ? -units : units, now)
    else key[kind](now, units)
  }
  return now
}

describe.each(algorithmNames)('%s', (algorithm) => {
  test('admits exactly retryAfterMs later and not 1 ms earlier, at any fraction of a ms', () => {
    const start = fc.double({ min: 0, max: 1e7, noNaN: true })
    const share = fc.double({ min: 0, max: 1, noNaN: true })
    const inputs = [anyPolicy(algorithm), anyHistory(25), start, share] as const
    fc.assert(
      fc.property(...inputs, (policy, history, startMs, part) => {
        const key = new PolicyDriver(algorithms[algorithm].compile(policy))
        const now = live(key, policy, history, startMs)
        const cost = Math.max(1, Math.round(part * key.compiled.capacity))
        const { allowed, retryAfterMs } = key.peek(now, cost)
        if (allowed) return
        expect(retryAfterMs).toBe(Math.max(1, Math.round(retryAfterMs)))
        expect(key.peek(now + retryAfterMs, cost).allowed).toBe(true)
        expect(key.peek(now + retryAfterMs - 1, cost).allowed).toBe(false)
      }),
      { numRuns: 1_500, seed: baseSeed() },
    )
  })

  test('keeps admitting once a request fits, and is fully reset at its reset time', () => {
    fc.assert(
      fc.property(anyPolicy(algorithm), anyHistory(25), (policy, history) => {
        const key = new PolicyDriver(algorithms[algorithm].compile(policy))
        const now = live(key, policy, history, 0.3)
        const { resetAfterMs } = key.peek(now, 0)
        expect(resetAfterMs).toBeGreaterThanOrEqual(0)
        const remaining = Array.from(
          { length: 17 },
          (_, part) => key.peek(now + (resetAfterMs * part) / 16, 0).remaining,
        )
        expect(remaining).toEqual(remaining.toSorted((one, other) => one - other))
        expect(key.peek(now + resetAfterMs + 0.001, 0)).toMatchObject({
          remaining: key.compiled.capacity,
          resetAfterMs: expect.closeTo(0, 2),
        })
      }),
      { numRuns: 300, seed: baseSeed() },
    )
  })

  test('reports a wait of at least 1 ms even if less than 1 ms is missing', () => {
    const key = keyOf({ algorithm, limit: 1, windowMs: 1_000 })
    key.take(0.25, 1)
    const missing = 0.125
    const freeAt = 0.25 + key.peek(0.25, 1).retryAfterMs
    expect(key.peek(freeAt - missing, 1).retryAfterMs).toBe(1)
  })
})
