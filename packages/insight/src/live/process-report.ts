import type { PolicyCalendar } from '@sluice/limiter-core'
import type { BackendSnapshot, DenialSnapshot, EventSnapshot, NearestSnapshot, SnapshotOutcome } from './snapshot.ts'
import type { TopKeyList } from './top-keys.ts'
import type { UniquesPart } from './unique-keys.ts'

/** From one report to the next. */
export const REPORT_MS = 1_000

export const OUTCOMES: readonly SnapshotOutcome[] = ['allowed', 'denied', 'shadowDenied', 'uncounted']

/** By the order of `OUTCOMES`. */
export type OutcomeCounts = readonly [allowed: number, denied: number, shadowDenied: number, uncounted: number]

export type MovedUnits = readonly [charged: number, refunded: number]

export const MOST_POLICIES = 50
/** Policies of a report whose top keys are in it: those with the most decisions. */
export const MOST_RANKED_POLICIES = 16
export const MOST_CAPS = 20
/** And one more, for all others. */
export const MOST_ROUTES = 200
/** Routes of a report, of those that have something new; the others follow with the next ones. */
export const MOST_REPORTED_ROUTES = 32
export const MOST_BACKENDS = 20
/** Of a report. */
export const MOST_REPORTED_EVENTS = 10
/** Keys of a report that were denied, and denials of each. */
export const MOST_REPORTED_DENIALS = 20
export const MOST_DENIALS_OF_KEY = 3
/** Of a snapshot. */
export const MOST_EVENTS = 100
export const MOST_PROCESSES = 256

/** What a process is. */
export interface ProcessFacts {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly version: string
  readonly startedAt: number
}

/**
 * What a process counted. Counts are since it started, so that a report that is lost or comes twice changes no sum; what
 * is in `news` is since the report before, and counted once by its `number`.
 */
export interface ProcessReport {
  readonly process: ProcessFacts
  /** 1, and one more for each. */
  readonly number: number
  readonly uptimeMs: number
  readonly memoryBytes: number
  /** By how much the last report came late; of an older release undefined. */
  readonly lagMs?: number | undefined
  readonly policies: readonly PolicyReport[]
  readonly caps: readonly CapReport[]
  readonly backends: readonly BackendSnapshot[]
  readonly uniques?: UniquesReport | undefined
  readonly news: ReportedNews
}

export interface PolicyReport {
  readonly name: string
  readonly limit: number
  readonly windowMs: number
  readonly unit: string
  readonly calendar?: PolicyCalendar | undefined
  readonly shadow: boolean
  readonly counts: OutcomeCounts
  /** Of decisions that were made before; undefined of a process that does not count them yet. */
  readonly units?: MovedUnits | undefined
  readonly nearest?: NearestSnapshot | undefined
  readonly topAllowed?: TopKeyList | undefined
  readonly topDenied?: TopKeyList | undefined
}

export interface CapReport {
  readonly name: string
  readonly limit: number
  readonly held: number
  /** Since the report before. */
  readonly peak: number
  readonly denied: number
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

/** Sketches are the bytes of a `TDigest` in base64. */
export interface ReportedNews {
  readonly routes: readonly RouteReport[]
  readonly holds: readonly HoldReport[]
  readonly events: readonly EventSnapshot[]
  /** Of an older release undefined. */
  readonly denials?: readonly DenialReport[] | undefined
}

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
