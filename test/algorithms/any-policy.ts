import type { AlgorithmName, Policy } from '@sluice/limiter-core'
import fc from 'fast-check'

export const algorithmNames: readonly AlgorithmName[] = [
  'fixed-window',
  'sliding-window',
  'sliding-log',
  'token-bucket',
  'gcra',
]

/** Any policy of an algorithm, with limits up to 100 and windows up to an hour, none of them round. */
export function anyPolicy(algorithm: AlgorithmName): fc.Arbitrary<Policy> {
  const limit = fc.integer({ min: 1, max: 100 })
  const windowMs = fc.oneof(fc.integer({ min: 100, max: 5_000 }), fc.integer({ min: 5_000, max: 3_600_000 }))
  const plain = { name: fc.constant('any'), algorithm: fc.constant(algorithm), limit, windowMs }
  if (algorithm === 'token-bucket' || algorithm === 'gcra') {
    const burst = fc.integer({ min: 1, max: 100 })
    return fc.oneof(fc.record(plain), fc.record({ ...plain, burst }))
  }
  if (algorithm !== 'sliding-window') return fc.record(plain)
  return fc.oneof(fc.record(plain), fc.record({ ...plain, slices: fc.integer({ min: 1, max: 60 }) }))
}

/** Windows that slices divide and units that last no odd thousandth of a ms: where doubles and models must agree. */
export function exactPolicy(algorithm: AlgorithmName): fc.Arbitrary<Policy> {
  return anyPolicy(algorithm).map((policy) => ({ ...policy, windowMs: wholeSlices(policy) }))
}

function wholeSlices({ windowMs, slices = 1 }: Policy): number {
  return Math.max(1, Math.round(windowMs / slices)) * slices
}

/** What happens to a key: ms to wait first, then the units to take, peek at, or move at an earlier take. */
export interface Event {
  readonly waitMs: number
  readonly kind: 'take' | 'peek' | 'adjust'
  /** A part of the capacity, from 0 to 1, or one unit, none, or one more than fits. */
  readonly size: number | 'one' | 'none' | 'all' | 'too much'
  /** adjust: a refund; of the take made so many takes ago. */
  readonly refund: boolean
  readonly back: number
}

/** Waits as parts of a window, so that histories stay interesting for every window when they shrink. */
export function anyHistory(maxLength: number): fc.Arbitrary<readonly Event[]> {
  const part = fc.oneof(
    fc.constant(0),
    fc.constant(1 / 8),
    fc.constant(1),
    fc.double({ min: 0, max: 2.5, noNaN: true }),
  )
  const size = fc.oneof(
    fc.constantFrom('one', 'none', 'all', 'too much'),
    fc.double({ min: 0, max: 1, noNaN: true }),
  ) as fc.Arbitrary<Event['size']>
  const kind = fc.constantFrom('take', 'take', 'take', 'peek', 'adjust') as fc.Arbitrary<Event['kind']>
  const event = fc.record({ waitMs: part, kind, size, refund: fc.boolean(), back: fc.nat(3) })
  return fc.array(event, { maxLength })
}

/** Whole units of an event under a policy. */
export function unitsOf(size: Event['size'], capacity: number): number {
  if (size === 'one') return 1
  if (size === 'none') return 0
  if (size === 'all') return capacity
  return size === 'too much' ? capacity + 1 : Math.round(size * capacity)
}
