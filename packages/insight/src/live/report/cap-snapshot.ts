import type { DenialReason, Priority } from '@sluice/limiter-core'

export interface CapSnapshot {
  readonly name: string
  /**
   * Places per key that apply now. The sum over all processes if they store permits in their memory, because each of
   * them has its own places.
   */
  readonly limit: number
  /** Permits held over all keys and processes. May exceed `limit`, which applies to each key. */
  readonly held: number
  /** Requests that wait for a permit, over all keys and processes. */
  readonly waiting: number
  /** Highest sum of `held` in the current and the previous minute. */
  readonly peak: number
  /** Denied permits, over the same time as `total` of a policy. */
  readonly denied: number
  /** Permits by priority of the request, most important first. Only priorities that occurred. */
  readonly byPriority: readonly CapPrioritySnapshot[]
  /** Denied permits by reason. Only reasons that occurred. */
  readonly byReason: readonly CapReasonSnapshot[]
  /** Hold times of permits released in the last 5 to 10 minutes. */
  readonly holdMs: PercentilesSnapshot
  /** Latency objective of an adaptive limit. Absent if there is none. */
  readonly objective?: ObjectiveSnapshot
}

/** A latency objective. All times in ms. */
export interface ObjectiveSnapshot {
  /** Quantile of the hold times, such as 0.95. */
  readonly quantile: number
  readonly targetMs: number
  /** The quantile of permits released in the last 5 to 10 minutes; null if none was. */
  readonly measuredMs: number | null
}

/** Permits for requests of one priority, over the same time as `denied` of the cap. */
export interface CapPrioritySnapshot {
  readonly priority: Priority
  readonly admitted: number
  readonly denied: number
  /** Averages over the last 10 s. */
  readonly perSecond: { readonly admitted: number; readonly denied: number }
}

export interface CapReasonSnapshot {
  readonly reason: DenialReason
  readonly denied: number
}

/** Requests that a policy has shed. */
export interface ShedSnapshot {
  readonly policy: string
  /** Shed requests by priority, most important first. Only priorities that occurred. */
  readonly byPriority: readonly ShedPrioritySnapshot[]
  /** Requests that would have been shed if the policy were not in shadow mode. */
  readonly shadow: number
  /** Highest pressure of all processes, from 0 to 1; null if nothing was shed in the last second. */
  readonly pressure: number | null
  /** Signal that the pressure comes from, such as `eventLoopDelay`; null together with `pressure`. */
  readonly signal: string | null
}

export interface ShedPrioritySnapshot {
  readonly priority: Priority
  readonly shed: number
  /** Average over the last 10 s. */
  readonly perSecond: number
}

/** Percentiles in ms; null if nothing was measured. */
export interface PercentilesSnapshot {
  readonly p50: number | null
  readonly p90: number | null
  readonly p99: number | null
}

/** Caps over the last 5 minutes in steps of 2 s, for all processes together. */
export interface TimelineSnapshot {
  /** Start of the first step. */
  readonly startAt: number
  readonly stepMs: number
  /** All series have the same number of values; the last step is still in progress. */
  readonly series: readonly CapTimelineSnapshot[]
}

/**
 * One number of a cap per step: its limit, the highest number of permits held and of requests that wait, percentiles of
 * hold times in ms, or the number of denied permits for requests of one priority. Series without requests that wait and
 * without denials are left out.
 */
export interface CapTimelineSnapshot {
  readonly cap: string
  readonly measure: 'limit' | 'held' | 'waiting' | 'p50' | 'p99' | 'denied'
  /** Present if `measure` is `denied`. */
  readonly priority?: Priority
  /** Null if nothing was measured in the step. */
  readonly values: readonly (number | null)[]
}
