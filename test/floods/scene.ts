import {
  type AlgorithmName,
  type Answer,
  type Backend,
  createLimiter,
  type Decision,
  type Limiter,
  memoryBackend,
  type PolicyInput,
} from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

export const KIB = 1024
export const MIB = 1024 * KIB

export const everyAlgorithm: readonly AlgorithmName[] = [
  'fixed-window',
  'sliding-window',
  'sliding-log',
  'token-bucket',
  'gcra',
]

/** A limiter with a separate memory backend, on a stopped clock, and the key counts that the backend reports. */
export interface Scene {
  readonly clock: FakeClock
  readonly backend: Backend<Answer>
  readonly limiter: Limiter<Decision>
  /** Last reported value; reports arrive at most once per second of the clock. */
  readonly told: { evicted: number; spilled: number }
}

export function scene(policies: readonly PolicyInput[], maxBytes?: number): Scene {
  const clock = new FakeClock()
  const backend = memoryBackend({ clock, ...(maxBytes !== undefined && { maxBytes }) })
  const told = { evicted: 0, spilled: 0 }
  backend.observe?.({
    event(name, { keys }) {
      if (name === 'evicted') told.evicted = keys as number
      if (name === 'tail') told.spilled = keys as number
    },
  })
  return { clock, backend, told, limiter: createLimiter({ policies: policies as never, backend, clock }) }
}

/** Returns how many keys of a policy fit before the first eviction. */
export function capacityOf(
  policy: PolicyInput,
  maxBytes: number,
  keyOf: (index: number) => string = (i) => `key-${i}`,
): number {
  const { limiter, told } = scene([policy], maxBytes)
  let keys = 0
  while (told.evicted === 0) limiter.take(keyOf(keys++))
  return keys
}
