import assert from 'node:assert/strict'
import { type BackendVerdict, drainPerMs, type Policy, type Verdict } from '@sluice/limiter-core/backend'

// the documented tolerance of floating-point algorithms
const EPSILON_MS = 0.001

type AnsweredNumbers = Omit<BackendVerdict, 'policy' | 'shadow'>

/**
 * Fails unless two verdicts of a policy are equal. Only the reset of policies whose units drain may differ by the documented 1 µs, or by
 * the precision of a double if it is years ahead. A backend may omit when more is available.
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
  const near = drainPerMs(policy) > 0 && offMs <= Math.max(EPSILON_MS, expected.resetAfterMs * 1e-12)
  const actual = near ? { ...plain(got), resetAfterMs: expected.resetAfterMs } : plain(got)
  assert.deepEqual(actual, plain(expected), `${about}: ${JSON.stringify(policy)}`)
}
