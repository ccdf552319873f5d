import type { Policy } from '@sluice/limiter-core'
import type { SeededRandom } from '../seeded-random.ts'

/** An action on a key. */
export type Command =
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'take' | 'peek'; readonly cost: number }
  /** Charges or refunds `units` of the take made `back` takes ago, allowed or not; 0 is the last one. */
  | { readonly kind: 'adjust'; readonly units: number; readonly back: number }

const YEAR_MS = 365 * 24 * 3_600_000

/**
 * The next thing to happen to a key: takes and peeks of 0 to one unit more than ever fits, charges and refunds of
 * earlier takes, waits from half a millisecond (where `halves` is set, else one) to a year.
 */
export function randomCommand(random: SeededRandom, policy: Policy, halves: boolean): Command {
  const capacity = policy.burst ?? policy.limit
  const kind = random.pick(['wait', 'wait', 'take', 'take', 'take', 'peek', 'adjust'] as const)
  if (kind === 'wait') return { kind, ms: waitMs(random, policy.windowMs, halves) }
  if (kind === 'adjust') {
    const units = random.whole(capacity + 3) - random.pick([0, capacity])
    return { kind, units, back: random.whole(3) }
  }
  return { kind, cost: random.pick([0, 1, 1, random.whole(capacity) + 1, capacity, capacity + 1]) }
}

function waitMs(random: SeededRandom, windowMs: number, halves: boolean): number {
  const wait = random.pick([
    () => 0,
    () => 1,
    () => random.whole(Math.ceil(windowMs / 8)),
    () => random.whole(windowMs * 2),
    () => windowMs - 1,
    () => windowMs,
    () => random.whole(10) * windowMs,
    () => YEAR_MS,
  ])()
  return halves && random.whole(2) === 0 ? wait + 0.5 : wait
}
