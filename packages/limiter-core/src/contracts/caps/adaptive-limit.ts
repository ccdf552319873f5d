import type { Clock } from '../clock.ts'
import type { AcquireOptions } from './inflight-backend.ts'
import type { KeyShare, SharedKey } from './key-share.ts'
import type { PermitOutcome } from './permit.ts'

/** A limit of a cap that follows the service, created by `adaptive` of `@sluice/overload`. */
export interface AdaptiveLimit {
  /** Smallest limit, an integer of at least 1. */
  readonly min: number
  /** Largest limit, an integer of at least `min`. */
  readonly max: number
  /** Limit of a key before anything has been learned. */
  readonly initial: number
  /** Latency objective: a quantile of the durations of work, and its longest value. Default: none. */
  readonly objective?: readonly [quantile: number, ms: number] | undefined
  /** Opens the limits of one cap. Work ends `maxHoldMs` after it began. `share`: joins processes with the same limit. */
  open(clock: Clock, maxHoldMs?: number, share?: (key: string, shared: SharedKey) => KeyShare): LearnedLimits
}

/** The limits of the keys of one cap. Requests of a class may have a limit of their own, if the class is late. */
export interface LearnedLimits {
  /** Returns the limit of a key for a further request, an integer from `min` to `max`. It may grow while work lasts. */
  limitOf(key: string, request?: AcquireOptions): number
  /** Returns the time in ms that work of a key usually takes, 0 if none is known. Default: always 0. */
  usualMsOf?(key: string): number
  /** Whether the class of a request is late while others are not, and its limit is its own. Default: false. */
  isApart?(key: string, request: AcquireOptions | undefined): boolean
  /** Reports that a request holds places. Returns a function that reports the end of its work. */
  begin(key: string, request: AcquireOptions | undefined): (outcome: PermitOutcome) => void
  /** Whether the limit of the whole fleet is divided: `limitOf` then returns what this process may hold, from 0. */
  readonly isShared?: boolean | undefined
  /** Resolves when the share of a key is known; undefined if it is. Called before each request. */
  opening?(key: string): Promise<void> | undefined
  /** Called when work found no place. */
  lacked?(key: string, places: number): void
  close?(): void
}
