import type { PriorUsage } from '../../../packages/limiter-core/src/contracts.ts'
import type { Basis } from '../../../packages/limiter-core/src/failover/own-units.ts'

/** `lates`: calls that miss their deadline; `breaks`: connections that break during a call; `losses`: restarts of the backend without its data. */
type Budget = Readonly<Record<'lates' | 'breaks' | 'losses', number>>
/** Numbers of a small fleet. The window of the limit does not end. */
export type FailoverSize = Readonly<Record<'processes' | 'limit', number>> &
  Budget & {
    /**
     * Whether late replies arrive before the process calls again (`awaited`), before replies to later calls (`ordered`,
     * as on one connection), or in any order (`any`, as with several connections).
     */
    readonly replies: 'awaited' | 'ordered' | 'any'
  }

/** A call that missed its deadline, until its reply arrives. `units` were admitted in its place. */
export interface LateCall {
  readonly known: PriorUsage | undefined
  readonly units: number
  readonly isCounted: boolean
}

export interface Process {
  /** Cells of the `MirrorPolicy`. */
  readonly cells: readonly number[]
  readonly admitted: number
  /** Whether the process has denied a request. */
  readonly hasDenied: boolean
  /** Whether the last call failed, so that the breaker may be open. */
  readonly isFailing: boolean
  /** Whether the known usage is from before a restart. */
  readonly isOutdated: boolean
  readonly call: { readonly known: PriorUsage | undefined } | undefined
  readonly late: readonly LateCall[]
}

export interface FailoverState extends Budget {
  /** Cells of the backend. */
  readonly cells: readonly number[]
  readonly processes: readonly Process[]
}

/** The rules of reports after an outage. */
export const FAILOVER_RULES = {
  /** Whether units of an unanswered call may be counted. */
  basis: 'unsure' as Basis,
  /** Whether a late reply decides whether its call was counted. */
  resolves: true,
  /** Whether units that were reported by a call which failed are reported again. */
  handsBack: true,
  /** Whether usage is reported to a backend that may have lost it. */
  reportsLoss: true,
  /** Whether the failure rule begins with the last known usage. */
  adopts: true,
}
