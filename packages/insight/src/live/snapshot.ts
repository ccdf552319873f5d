import type { MetricLabels, PolicyCalendar } from '@sluice/limiter-core'
import type { ControlEntry } from '../control/control.ts'

/**
 * What limits do now and did lately, as plain JSON. Times are epoch ms of the process that made it. Keys are shown as
 * `privacy` says. No text is longer than 128 characters, and none is safe to put into HTML as it is.
 */
export interface InsightSnapshot {
  readonly at: number
  /** False without a channel: only this process is shown. */
  readonly isWholeFleet: boolean
  /** This process first, then the others by host and pid. One that was silent for 10 s is no longer among them. */
  readonly processes: readonly ProcessSnapshot[]
  /** Decisions, of all policies together. A request with verdicts of two policies counts once for each. */
  readonly ratePerSecond: RateSnapshot
  /** Of the last 10 s, the share of decisions that were denied, those in shadow left out; 0 where there was none. */
  readonly deniedShare: number
  /** By name. At most 50, the last of which is then `other`. */
  readonly policies: readonly PolicySnapshot[]
  /** By name. At most 20, the last of which is then `other`. */
  readonly caps: readonly CapSnapshot[]
  /** By falling `perSecond`. At most 200, and `other`. */
  readonly routes: readonly RouteSnapshot[]
  readonly uniques: UniquesSnapshot
  readonly backends: readonly BackendSnapshot[]
  readonly history: HistorySnapshot
  /** The last 100, newest first. */
  readonly events: readonly EventSnapshot[]
  /** Changes by operators that hold now, latest first. */
  readonly controls: readonly ControlEntry[]
  /** What the sources of this process alone measured: at most 100 series of them, 20 of each. Labels as sources give them. */
  readonly sources: readonly SourceSnapshot[]
  /** Messages of other processes that could not be read: of another version, malformed or too large. */
  readonly unreadMessages: number
}

/** What is counted of it. */
export type LiveSnapshot = Omit<InsightSnapshot, 'controls'>

export interface ProcessSnapshot {
  /** Random, and new with each start. */
  readonly id: string
  readonly host?: string
  readonly pid: number
  /** Of `@sluice/insight`. */
  readonly version: string
  readonly startedAt: number
  /** When it was last heard of. */
  readonly lastAt: number
  readonly uptimeMs: number
  /** Resident memory of the whole process. */
  readonly memoryBytes: number
  /** By how much its last report came late, since its event loop was busy; null where that is not known. */
  readonly lagMs: number | null
  /** Backends that do not answer it, or are not called while its breaker is open: 3 at most. */
  readonly failing: readonly string[]
  /** Made the snapshot. */
  readonly isSelf: boolean
}

export interface RateSnapshot {
  /** Of the last 10 s. */
  readonly now: number
  /** Of the last hour, or of as much of it as this process saw. */
  readonly lastHour: number
}

/** What became of decisions. Allowed, denied and denied in shadow add up to all of them. */
export interface OutcomesSnapshot {
  readonly allowed: number
  readonly denied: number
  /** Would have been denied, by a policy in shadow. */
  readonly shadowDenied: number
  /** Among those above: answered by a failure rule while the backend did not. */
  readonly uncounted: number
}

export type SnapshotOutcome = keyof OutcomesSnapshot

export interface PolicySnapshot {
  readonly name: string
  readonly limit: number
  readonly windowMs: number
  /** What is counted: `requests`, unless the policy says otherwise. */
  readonly unit: string
  readonly calendar?: PolicyCalendar
  /** How many processes have it enforced, and how many in shadow. */
  readonly modes: { readonly enforce: number; readonly shadow: number }
  /** Since the processes that are shown started, and those that went while this one was there. */
  readonly total: OutcomesSnapshot
  /** Units that were moved after their decisions, as long as `total`; absent where none were. */
  readonly units?: MovedUnitsSnapshot
  /** Of the last 10 s. */
  readonly perSecond: OutcomesSnapshot
  /** The key that came nearest its end in the last 5 to 10 s; absent where there was none. */
  readonly nearest?: NearestSnapshot
  /** Those that were allowed most in the last 5 to 10 minutes, 10 at most, by falling count. */
  readonly topAllowed: readonly TopKeySnapshot[]
  readonly topDenied: readonly TopKeySnapshot[]
}

/** Whole units of `charge`, `refund` and `settle`. */
export interface MovedUnitsSnapshot {
  readonly charged: number
  /** 0 or more. */
  readonly refunded: number
}

export interface NearestSnapshot {
  /** Of its key, for `explain`; absent where a process of an older release reported it. */
  readonly id?: string | undefined
  readonly key: string
  /** From 0 to 1: how much of the limit was used, a debt included as 1. */
  readonly usedShare: number
}

/** At most `count`, and at least `count - error`. */
export interface TopKeySnapshot {
  /** The same for the same key, for `explain`. */
  readonly id: string
  readonly key: string
  readonly count: number
  readonly error: number
}

export interface CapSnapshot {
  readonly name: string
  readonly limit: number
  /** Over all keys and processes, so it may be above `limit`. */
  readonly held: number
  /** The highest sum of `held` of this minute and the one before. */
  readonly peak: number
  /** Since the processes started, as `total` of a policy. */
  readonly denied: number
  /** How long permits were held that came back in the last 5 to 10 minutes. */
  readonly holdMs: PercentilesSnapshot
}

/** In ms; null where nothing was measured. */
export interface PercentilesSnapshot {
  readonly p50: number | null
  readonly p90: number | null
  readonly p99: number | null
}

/**
 * From the decision to the end of the response, of the last 5 to 10 minutes. Allowed requests alone: of a process that gets
 * more than 100 in a second, one of eight of those that follow, which stands for eight.
 */
export interface RouteSnapshot extends PercentilesSnapshot {
  /** The pattern of the route; `(none)` where it had none, `other` for all beyond 200. */
  readonly route: string
  /** Empty for `other`. */
  readonly method: string
  /** Requests that ended in the last 10 s. */
  readonly perSecond: number
}

/** Estimates: of the standard error 1.6 %, by route 6.5 %. */
export interface UniquesSnapshot {
  /** Different keys of the last 45 to 60 minutes. */
  readonly hour: number
  /** Different keys of the last 24 hours, or of as much of them as was seen. */
  readonly day: number
  /** Where `unique` asks for it. */
  readonly byRoute?: readonly RouteUniquesSnapshot[]
  /**
   * Where `unique` has a store: the last 31 days on which there were any, today included, oldest first. As of the last
   * minute; of all processes with the same secret.
   */
  readonly days?: readonly UniqueDaySnapshot[]
}

export interface UniqueDaySnapshot {
  /** Of UTC: `2026-01-31`. */
  readonly date: string
  readonly count: number
  /** Where `unique` asks for it: the 10 with the most keys, by falling count. */
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
  /** The worst of all processes: `open` is one that is not called for a while. */
  readonly state: 'ok' | 'failing' | 'open'
  /** For how long it has been in that state. */
  readonly sinceMs: number
  /** Null where it never failed. */
  readonly lastError: string | null
}

/** Minute by minute, 24 hours of them. */
export interface HistorySnapshot {
  /** When the first step began. */
  readonly startAt: number
  readonly stepMs: number
  /** Decisions a step. Each has as many values as the others; the last step still runs. */
  readonly series: readonly PolicySeriesSnapshot[]
  /** The most permits that were held at once in each step, as far as was reported. */
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

/** A metric of a source, such as a quota, a synced backend, counters or gossip. */
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
  /** Null where nothing was measured. */
  readonly mean: number | null
  /** At most this, as far as the buckets tell; null where nothing was measured, or it is above the last bound. */
  readonly p50: number | null
  readonly p99: number | null
}

export interface EventSnapshot {
  readonly at: number
  readonly name: string
  readonly text: string
}

/** Denials of one key by one policy on one route that came one after the other. */
export interface DenialSnapshot {
  /** Of the last one. */
  readonly at: number
  readonly policy: string
  /** `(none)` where it had none. */
  readonly route: string
  readonly method: string
  readonly isShadow: boolean
  readonly times: number
}
