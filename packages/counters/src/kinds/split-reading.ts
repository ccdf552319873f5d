import type { CounterReading } from '@sluice/fleet/backend'
import type { CounterSplit } from './counter-split.ts'
import { exactSum } from './exact-sum.ts'

/** Combines the readings of the parts into the reading of their counter. */
export function readingOf(
  id: string,
  parts: readonly CounterReading[],
  split: Pick<CounterSplit, 'versionOf'>,
): CounterReading {
  const times = parts.map(({ updatedAt = Number.NEGATIVE_INFINITY }) => updatedAt)
  const updatedAt = Math.max(...times)
  return {
    id,
    value: exactSum(parts.map(({ value }) => value)),
    version: split.versionOf(parts),
    updatedAt: updatedAt === Number.NEGATIVE_INFINITY ? undefined : updatedAt,
  }
}
