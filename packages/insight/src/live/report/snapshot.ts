import type { MetricLabels, PolicyCalendar } from '@sluice/limiter-core'
import type { ControlEntry } from '../../control/control.ts'
import type { BanSnapshot } from './ban-snapshot.ts'
import type { CapSnapshot, PercentilesSnapshot, ShedSnapshot, TimelineSnapshot } from './cap-snapshot.ts'

/**
 * Current and recent statistics of limits as plain JSON. Times are ms since 1970, by the clock of the process that
 * created the snapshot. Keys are displayed according to `privacy`. Strings have at most 128 characters and are not
 * escaped for HTML.
 */
export interface InsightSnapshot {
  readonly at: number
  /** Whether all processes of a channel are covered; false without a channel. */
  readonly isWholeFleet: boolean
  /** This process first, then the others by host and pid. Processes without a report in the last 10 s are left out. */
  readonly processes: readonly ProcessSnapshot[]
  /** Decisions per second, over all policies. A request that two policies decide counts twice. */
  readonly ratePerSecond: RateSnapshot
  /**
   * Share of decisions in the last 10 s that were denied, from 0 to 1, without shadow denials; 0 if there were no
   * decisions.
   */
  readonly deniedShare: number
  /** Sorted by name. At most 50; policies beyond that are combined as `other`. */
  readonly policies: readonly PolicySnapshot[]
  /** Sorted by name. At most 20; caps beyond that are combined as `other`. */
  readonly caps: readonly CapSnapshot[]
  /** Policies that shed requests, sorted by name. At most 20; policies beyond that are combined as `other`. */
  readonly sheds: readonly ShedSnapshot[]
  /** Sorted by `perSecond`, descending. At most 200; routes beyond that are combined as `other`. */
  readonly routes: readonly RouteSnapshot[]
  readonly uniques: UniquesSnapshot
  readonly backends: readonly BackendSnapshot[]
  /** Present if this process counts many clients as one, because a proxy is not trusted. */
  readonly collapsed?: CollapsedSnapshot | undefined
  readonly history: HistorySnapshot
  readonly timeline: TimelineSnapshot
  /** Running bans, at most 100, the latest first. A ban that clients extend by further requests may end later. */
  readonly bans: readonly BanSnapshot[]
  /** The last 100 events, newest first. */
  readonly events: readonly EventSnapshot[]
  /** Active operator changes, latest first. */
  readonly controls: readonly ControlEntry[]
  /**
   * Metrics of the sources attached in this process only: at most 100 series in total and 20 per metric. Labels are not
   * masked.
   */
  readonly sources: readonly SourceSnapshot[]
  /**
   * Number of reports and operator changes from other processes that could not be read: another version or secret,
   * malformed or too large.
   */
  readonly unreadMessages: number
}

/** The snapshot without operator changes. */
export type LiveSnapshot = Omit<InsightSnapshot, 'controls'>

export interface ProcessSnapshot {
  /** Random id, new at each start. */
  readonly id: string
  readonly host?: string
  readonly pid: number
  /** Version of `@sluice/insight`. */
  readonly version: string
  readonly startedAt: number
  /** Time of the last report. */
  readonly lastAt: number
  readonly uptimeMs: number
  /** Resident memory of the whole process, in bytes. */
  readonly memoryBytes: number
  /** Delay of the last report in ms, caused by a busy event loop; null if unknown. */
  readonly lagMs: number | null
  /** Backends that fail, or are not called because their circuit breaker is open: at most 3. */
  readonly failing: readonly string[]
  /** Whether this process created the snapshot. */
  readonly isSelf: boolean
}

export interface CollapsedSnapshot {
  /** Why the counted address is not a client, in words. */
  readonly reason: string
  /** The value of the option `trust` that probably corrects it; undefined if no value does. */
  readonly trust?: string | undefined
}

export interface RateSnapshot {
  /** Average over the last 10 s. */
  readonly now: number
  /** Average over the last hour, or since this process started if that is less. */
  readonly lastHour: number
}

/** Decisions by outcome. `allowed`, `denied` and `shadowDenied` add up to all decisions. */
export interface OutcomesSnapshot {
  readonly allowed: number
  readonly denied: number
  /** Decisions that would have been denied if the policy were not in shadow mode. */
  readonly shadowDenied: number
  /** Decisions made by a failure rule because the backend was unavailable. Included in the other outcomes. */
  readonly uncounted: number
}

export type SnapshotOutcome = keyof OutcomesSnapshot

export interface PolicySnapshot {
  readonly name: string
  readonly limit: number
  readonly windowMs: number
  /** Unit of the limit: `requests`, unless the policy sets another. */
  readonly unit: string
  /** Calendar of the windows. `timeZone` is `zone of each key` if a function returns it. */
  readonly calendar?: Omit<PolicyCalendar, 'zoneOf'>
  /** Number of processes that enforce the policy, and that have it in shadow mode. */
  readonly modes: { readonly enforce: number; readonly shadow: number }
  /** Since the start of the shown processes, including processes that have exited while this one was running. */
  readonly total: OutcomesSnapshot
  /** Units charged or refunded after their decisions, over the same time as `total`. Absent if there were none. */
  readonly units?: MovedUnitsSnapshot
  /** Average over the last 10 s. */
  readonly perSecond: OutcomesSnapshot
  /** Key that used the largest share of its limit in the last 5 to 10 s. Absent if there was none. */
  readonly nearest?: NearestSnapshot
  /** Keys that were allowed most often in the last 5 to 10 minutes: at most 10, by descending count. */
  readonly topAllowed: readonly TopKeySnapshot[]
  /** Keys that were denied most often in the last 5 to 10 minutes: at most 10, by descending count. */
  readonly topDenied: readonly TopKeySnapshot[]
}

/** Whole units moved by `charge`, `refund` and `settle`. */
export interface MovedUnitsSnapshot {
  readonly charged: number
  /** Refunded units, as a non-negative number. */
  readonly refunded: number
}

export interface NearestSnapshot {
  /** Id of the key, for `explain`. Absent if it was reported by an older release. */
  readonly id?: string | undefined
  readonly key: string
  /** Used share of the limit, from 0 to 1. A debt counts as 1. */
  readonly usedShare: number
}

/** Estimated count of a key: the true count is between `count - error` and `count`. */
export interface TopKeySnapshot {
  /** Id of the key, for `explain`. Equal keys have equal ids. */
  readonly id: string
  readonly key: string
  readonly count: number
  readonly error: number
}

/**
 * Time from the decision to the end of the response, over the last 5 to 10 minutes. Only allowed requests are measured.
 * Above 100 requests per second in a process, one in eight of the remaining requests is measured and counted eight
 * times.
 */
export interface RouteSnapshot extends PercentilesSnapshot {
  /** Pattern of the route; `(none)` if the request had none, `other` for all routes beyond 200. */
  readonly route: string
  /** Empty for `other`. */
  readonly method: string
  /** Requests that ended per second, averaged over the last 10 s. */
  readonly perSecond: number
}

/** Estimated numbers of unique keys. Standard error: 1.6 % in total, 6.5 % by route. */
export interface UniquesSnapshot {
  /** Unique keys of the last 45 to 60 minutes. */
  readonly hour: number
  /** Unique keys of the last 24 hours, or since this process started if that is less. */
  readonly day: number
  /** Present if `unique.per` is `route`. */
  readonly byRoute?: readonly RouteUniquesSnapshot[]
  /**
   * Present if `unique.store` is set: the last 31 days with at least one key, including today, oldest first. Updated
   * once a minute; covers all processes with the same secret.
   */
  readonly days?: readonly UniqueDaySnapshot[]
}

export interface UniqueDaySnapshot {
  /** Date in UTC: `2026-01-31`. */
  readonly date: string
  readonly count: number
  /** Present if `unique.per` is `route`: the 10 routes with the most keys, by descending count. */
  readonly byRoute?: readonly RouteDaySnapshot[]
}

export interface RouteDaySnapshot {
  readonly route: string
  readonly method: string
  readonly count: number
}

export interface RouteUniquesSnapshot {
  readonly route: string
  readonly method: string
  readonly hour: number
  readonly day: number
}

export interface BackendSnapshot {
  readonly name: string
  /** Worst state over all processes. `open`: the circuit breaker is open and the backend is not called. */
  readonly state: 'ok' | 'failing' | 'open'
  /** Time in this state, in ms. */
  readonly sinceMs: number
  /** Last error; null if there was none. */
  readonly lastError: string | null
}

/** Decisions and peaks per minute over the last 24 hours. */
export interface HistorySnapshot {
  /** Start of the first step. */
  readonly startAt: number
  readonly stepMs: number
  /** Decisions per step. All series have the same number of values; the last step is still in progress. */
  readonly series: readonly PolicySeriesSnapshot[]
  /** Highest reported number of permits held at once, per step. */
  readonly caps: readonly CapSeriesSnapshot[]
}

export interface PolicySeriesSnapshot {
  readonly policy: string
  readonly outcome: SnapshotOutcome
  readonly values: readonly number[]
}

export interface CapSeriesSnapshot {
  readonly cap: string
  readonly values: readonly number[]
}

/** Metric of an attached source, such as a quota, a synced backend, counters or gossip. */
export type SourceSnapshot =
  | {
      readonly name: string
      readonly help: string
      readonly type: 'counter' | 'gauge'
      readonly samples: readonly ValuedSample[]
    }
  | {
      readonly name: string
      readonly help: string
      readonly type: 'histogram'
      readonly samples: readonly MeasuredSample[]
    }

export interface ValuedSample {
  readonly labels: MetricLabels
  readonly value: number
}

export interface MeasuredSample {
  readonly labels: MetricLabels
  readonly count: number
  /** Mean of all values; null if nothing was measured. */
  readonly mean: number | null
  /**
   * Upper bound of the median, from the buckets; null if nothing was measured or the median is above the last bound.
   */
  readonly p50: number | null
  /** Upper bound of the 99th percentile, like `p50`. */
  readonly p99: number | null
}

export interface EventSnapshot {
  readonly at: number
  readonly name: string
  readonly text: string
}

/** Consecutive denials of one key by one policy on one route. */
export interface DenialSnapshot {
  /** Time of the last denial. */
  readonly at: number
  readonly policy: string
  /** Pattern of the route; `(none)` if the request had none. */
  readonly route: string
  readonly method: string
  readonly isShadow: boolean
  readonly times: number
}
