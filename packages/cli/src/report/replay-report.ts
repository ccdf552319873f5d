import type { AlgorithmName } from '@sluice/limiter-core'
import type { LogSummary } from '../log/log-files.ts'

/** Result of a replay, as `--json` prints it. Times are ISO 8601 in UTC. */
export interface ReplayReport {
  readonly version: 1
  readonly log: LogSummary & { readonly from: string | null; readonly to: string | null }
  readonly total: CountsReport
  /** Requests that the lists of the file decided; null if it has none. */
  readonly lists: ListsReport | null
  readonly policies: readonly PolicyReport[]
  /** What makes figures less exact, or policies not apply. */
  readonly notes: readonly string[]
}

interface ListsReport {
  /** Number of requests that `block` denied. */
  readonly blocked: number
  /** Number of requests that `allow` exempted from all policies. */
  readonly allowed: number
}

/** Requests and denials. */
export interface CountsReport {
  readonly requests: number
  readonly denied: number
  readonly clients: ClientsReport
  readonly peakHour: HourReport | null
  readonly hours: readonly HourReport[]
  /** Keys with the most denials. */
  readonly topKeys: readonly TopReport[]
  /** Routes with the most denials. */
  readonly topRoutes: readonly TopReport[]
}

export interface ClientsReport {
  readonly count: number
  /** Standard error of `count`, as a share of it; 0 if it is exact. */
  readonly error: number
  /** Share of the clients that were denied at least once, from 0 to 1. */
  readonly touched: number
  /** Part of the clients that the figures are from: 1 for all of them. */
  readonly sample: number
}

export interface HourReport {
  readonly at: string
  readonly requests: number
  readonly denied: number
}

export interface TopReport {
  readonly key: string
  readonly denied: number
  /** `denied` may be too high by this. */
  readonly error: number
  /** Requests of the key; undefined for routes, and for keys that are not in the sample of the clients. */
  readonly requests?: number
}

/** What one policy did, or would do. */
export interface PolicyReport extends CountsReport {
  readonly name: string
  readonly mode: 'enforce' | 'shadow' | 'off'
  readonly limit: number | Readonly<Record<string, number>>
  readonly per: string
  readonly unit: string
  readonly algorithm: AlgorithmName | null
  readonly demand: DemandReport
  readonly proposal: ProposalReport | null
  /** The plans of the policy; empty if all plans have the same limit. */
  readonly plans: readonly PlanReport[]
  /** Null if the policy bans no keys. */
  readonly bans: BansReport | null
}

interface BansReport {
  /** Number of bans that began. */
  readonly begun: number
  /** Number of the denied requests whose key was banned. Not counted for a policy in shadow mode: 0. */
  readonly denied: number
}

/** Requests with the limit of one plan. Other plans count in the one with the smallest limit. */
export interface PlanReport {
  readonly plan: string
  readonly limit: number
  readonly requests: number
  readonly denied: number
  readonly clients: ClientsReport
  readonly demand: Pick<DemandReport, 'percentiles' | 'largest'>
  readonly proposal: ProposalReport | null
}

/** Units of clients in their busiest windows: the smallest limits that never deny these shares of the clients. */
interface DemandReport {
  readonly percentiles: readonly PercentileReport[]
  readonly largest: number
  /** How windows are measured: by the algorithm of the policy, or in slices that are up to a tenth too long. */
  readonly measured: 'exactly' | 'in slices'
  /** Busiest windows at equally spaced shares of the clients, from 1 % to 100 %. */
  readonly curve: readonly number[]
}

interface PercentileReport {
  /** Share of the clients, such as 0.99. */
  readonly share: number
  /** Smallest limit under which this share of the clients is never denied. */
  readonly limit: number
  /** `share` may be off by this much, because of the t-digest and of the sample; 0 for an exact limit. */
  readonly rankError: number
}

/** A limit, and why it is proposed. */
export interface ProposalReport {
  readonly limit: number
  readonly reason: string
}
