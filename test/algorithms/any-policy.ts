import type { AlgorithmName, Policy } from '@sluice/limiter-core'
import fc from 'fast-check'

export const algorithmNames: readonly AlgorithmName[] = [
  'fixed-window',
  'sliding-window',
  'sliding-log',
  'token-bucket',
  'gcra',
]

/** Algorithms whose units drain at a constant rate, up to a burst. */
export const drainingNames: readonly AlgorithmName[] = ['token-bucket', 'gcra']

/** Any policy of an algorithm, with limits up to 100 and windows up to an hour, none of them round. */
export function anyPolicy(algorithm: AlgorithmName): fc.Arbitrary<Policy> {
  const limit = fc.integer({ min: 1, max: 100 })
  const windowMs = fc.oneof(fc.integer({ min: 100, max: 5_000 }), fc.integer({ min: 5_000, max: 3_600_000 }))
  const plain = { name: fc.constant('any'), algorithm: fc.constant(algorithm), limit, windowMs }
  if (drainingNames.includes(algorithm)) {
    const burst = fc.integer({ min: 1, max: 100 })
    return fc.oneof(fc.record(plain), fc.record({ ...plain, burst }))
  }
  if (algorithm !== 'sliding-window') return fc.record(plain)
  return fc.oneof(fc.record(plain), fc.record({ ...plain, slices: fc.integer({ min: 1, max: 60 }) }))
}

/** Windows divisible into slices, and units that last whole microseconds: doubles and models must agree on these. */
export function exactPolicy(algorithm: AlgorithmName): fc.Arbitrary<Policy> {
  return anyPolicy(algorithm).map((policy) => ({ ...policy, windowMs: wholeSlices(policy) }))
}

function wholeSlices({ windowMs, slices = 1 }: Policy): number {
  return Math.max(1, Math.round(windowMs / slices)) * slices
}

/** An event of a key: ms to wait first, then the units to take, to peek at, or to adjust an earlier take by. */
export interface Event {
  readonly waitMs: number
  readonly kind: 'take' | 'peek' | 'adjust'
  /** A share of the capacity from 0 to 1, or one unit, no units, or one unit more than fits. */
  readonly size: number | 'one' | 'none' | 'all' | 'too much'
  /** For `adjust`: whether it is a refund, and how many takes ago the adjusted take was made. */
  readonly refund: boolean
  readonly back: number
}

/** Waits are shares of a window, so that shrunk histories stay meaningful for every window. */
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

/** Returns the whole units of an event under a policy. */
export function unitsOf(size: Event['size'], capacity: number): number {
  if (size === 'one') return 1
  if (size === 'none') return 0
  if (size === 'all') return capacity
  return size === 'too much' ? capacity + 1 : Math.round(size * capacity)
}
