import type { PolicyCalendar } from '@sluice/limiter-core'
import type { BanSnapshot } from './ban-snapshot.ts'
import type { BackendSnapshot, DenialSnapshot, EventSnapshot, NearestSnapshot, SnapshotOutcome } from './snapshot.ts'
import type { TopKeyList } from './top-keys.ts'
import type { UniquesPart } from './unique-keys.ts'

/** Interval between reports. */
export const REPORT_MS = 1_000

export const OUTCOMES: readonly SnapshotOutcome[] = ['allowed', 'denied', 'shadowDenied', 'uncounted']

/** Counts in the order of `OUTCOMES`. */
type OutcomeCounts = readonly [allowed: number, denied: number, shadowDenied: number, uncounted: number]

type MovedUnits = readonly [charged: number, refunded: number]

export const MAX_POLICIES = 50
/** Maximum number of policies per report with top keys: the policies with the most decisions. */
export const MAX_RANKED_POLICIES = 16
export const MAX_CAPS = 20
/** Maximum number of policies that shed requests. */
export const MAX_SHEDS = 20
/** Maximum number of routes. All further routes share one additional entry. */
export const MAX_ROUTES = 200
/** Maximum number of routes per report, of those with new data. The others are included in later reports. */
export const MAX_REPORTED_ROUTES = 32
export const MAX_BACKENDS = 20
/** Maximum number of events per report. */
export const MAX_REPORTED_EVENTS = 10
/** Maximum number of denied keys per report. */
export const MAX_REPORTED_DENIALS = 20
/** Maximum number of bans per report. */
export const MAX_REPORTED_BANS = 50
/** Maximum number of denials per key in a report. */
export const MAX_DENIALS_OF_KEY = 3
/** Maximum number of events in a snapshot. */
export const MAX_EVENTS = 100
export const MAX_PROCESSES = 256

/** Identity of a process. */
export interface ProcessFacts {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly version: string
  readonly startedAt: number
}

/**
 * Report of one process. Counts are cumulative since the process started, so lost or repeated reports do not distort
 * sums. `news` covers the time since the previous report and is counted once, by `number`.
 */
export interface ProcessReport {
  readonly process: ProcessFacts
  /** Sequence number, starting at 1. */
  readonly number: number
  readonly uptimeMs: number
  readonly memoryBytes: number
  /** Delay of the last report in ms; undefined in reports of older releases. */
  readonly lagMs?: number | undefined
  readonly policies: readonly PolicyReport[]
  readonly caps: readonly CapReport[]
  /** Undefined in reports of older releases. */
  readonly sheds?: readonly ShedReport[] | undefined
  readonly backends: readonly BackendSnapshot[]
  readonly uniques?: UniquesReport | undefined
  readonly news: ReportedNews
}

/** Calendar of a policy. `timeZone` is `zone of each key` if a function returns it. */
export type ReportedCalendar = Omit<PolicyCalendar, 'zoneOf'>

export interface PolicyReport {
  readonly name: string
  readonly limit: number
  readonly windowMs: number
  readonly unit: string
  readonly calendar?: ReportedCalendar | undefined
  readonly shadow: boolean
  readonly counts: OutcomeCounts
  /** Units charged and refunded after decisions; undefined in reports of older releases. */
  readonly units?: MovedUnits | undefined
  readonly nearest?: NearestSnapshot | undefined
  readonly topAllowed?: TopKeyList | undefined
  readonly topDenied?: TopKeyList | undefined
}

export interface CapReport {
  readonly name: string
  readonly limit: number
  /** Whether the process has its own places. Undefined, like the other optional fields, in reports of older releases. */
  readonly isLocal?: boolean | undefined
  readonly held: number
  /** Highest number of held permits since the previous report. */
  readonly peak: number
  readonly waiting?: number | undefined
  readonly denied: number
  /** Admitted permits in the order of `PRIORITIES`, then denied ones. */
  readonly byPriority?: readonly number[] | undefined
  /** Denied permits in the order of `DENIAL_REASONS`. */
  readonly byReason?: readonly number[] | undefined
  /** Quantile and longest value in ms of an adaptive limit with an objective. */
  readonly objective?: readonly [quantile: number, ms: number] | undefined
}

/** Requests that a policy of the process has shed. */
export interface ShedReport {
  readonly name: string
  /** In the order of `PRIORITIES`. */
  readonly byPriority: readonly number[]
  /** Requests that would have been shed if the policy were not in shadow mode. */
  readonly shadow: number
  /** Highest pressure of about the last second, and its signal; undefined if nothing was shed. */
  readonly pressure?: number | undefined
  readonly signal?: string | undefined
}

export interface UniquesReport {
  readonly quarter: UniquesPart
  readonly hour?: UniquesPart | undefined
  readonly routes: readonly RouteUniquesReport[]
}

export interface RouteUniquesReport {
  readonly route: string
  readonly method: string
  readonly quarter: UniquesPart
}

/** Data since the previous report. `durations` are the bytes of a `TDigest` in base64. */
export interface ReportedNews {
  readonly routes: readonly RouteReport[]
  readonly holds: readonly HoldReport[]
  readonly events: readonly EventSnapshot[]
  /** Undefined in reports of older releases. */
  readonly denials?: readonly DenialReport[] | undefined
  /** Undefined in reports of older releases. */
  readonly bans?: readonly BanReport[] | undefined
}

/** A ban that a process began. */
export type BanReport = BanSnapshot

/** Denials of one key, latest first. */
export interface DenialReport {
  readonly id: string
  readonly denials: readonly DenialSnapshot[]
}

export interface RouteReport {
  readonly route: string
  readonly method: string
  readonly durations: string
}

export interface HoldReport {
  readonly cap: string
  readonly durations: string
}
