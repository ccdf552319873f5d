import assert from 'node:assert/strict'
import type { AnsweredVerdict, Policy, Verdict } from '@sluice/limiter-core'

// the stated epsilon of what counts in doubles
const EPSILON_MS = 0.001
const IN_DOUBLES: readonly string[] = ['token-bucket', 'gcra']

type AnsweredNumbers = Omit<AnsweredVerdict, 'policy' | 'shadow'>

/**
 * Fails unless two verdicts of a policy are equal: exactly, but for the reset of buckets, which may differ by the
 * stated 1 µs, or by what a double can tell apart where the reset is years ahead. A backend may leave out when more is
 * available.
 */
export function assertSameVerdict(policy: Policy, got: AnsweredNumbers, expected: Verdict, about: string): void {
  const plain = ({ allowed, remaining, retryAfterMs, resetAfterMs, availableAfterMs }: AnsweredNumbers): Verdict => ({
    allowed,
    remaining,
    retryAfterMs,
    resetAfterMs,
    availableAfterMs: availableAfterMs ?? expected.availableAfterMs,
  })
  const offMs = Math.abs(got.resetAfterMs - expected.resetAfterMs)
  const near = IN_DOUBLES.includes(policy.algorithm) && offMs <= Math.max(EPSILON_MS, expected.resetAfterMs * 1e-12)
  const actual = near ? { ...plain(got), resetAfterMs: expected.resetAfterMs } : plain(got)
  assert.deepEqual(actual, plain(expected), `${about}: ${JSON.stringify(policy)}`)
}
