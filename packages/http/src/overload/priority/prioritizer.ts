import type { Clock } from '@sluice/limiter-core'
import { badOption, clockOf } from '@sluice/limiter-core/http'
import { RejectionThreshold } from './rejection-threshold.ts'

/** A rejection threshold that several caps of a process share. */
export interface Prioritizer {
  /** Requests below this level, from 0 to 639, are refused at once; 0 if none are. A priority has 128 levels. */
  readonly level: number
  /** Whether one of the caps was full a short time ago. */
  readonly isOverloaded: boolean
}

/** Creates a threshold for the option `prioritizer` of several caps that use the same resource. */
export function createPrioritizer({ clock }: { readonly clock?: Clock | undefined } = {}): Prioritizer {
  return new RejectionThreshold(clockOf(clock).now())
}

/** Returns the threshold behind a prioritizer, or a new one. Throws `SLUICE_BAD_OPTION`. */
export function thresholdOf(prioritizer: Prioritizer | undefined, clock: Clock): RejectionThreshold {
  if (prioritizer === undefined) return new RejectionThreshold(clock.now())
  const threshold = prioritizer as Partial<RejectionThreshold>
  if (typeof threshold?.refuses === 'function') return prioritizer as RejectionThreshold
  throw badOption('prioritizer', prioritizer, 'the result of createPrioritizer()')
}
