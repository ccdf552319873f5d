import type { LogSummary } from '../log/log-files.ts'
import type { ClientsReport, CountsReport } from './replay-report.ts'

/** Result of a comparison, as `--json` prints it. Times are ISO 8601 in UTC. */
export interface DiffReport {
  readonly version: 1
  readonly log: LogSummary & { readonly from: string | null; readonly to: string | null }
  readonly requests: number
  readonly clients: Omit<ClientsReport, 'touched'>
  readonly denied: { readonly before: number; readonly after: number }
  readonly newlyDenied: ChangedReport
  readonly newlyAdmitted: ChangedReport
  readonly notes: readonly string[]
}

/** Requests that the change decides in another way. */
export interface ChangedReport extends Omit<CountsReport, 'denied' | 'clients'> {
  /** Number of addresses, and the standard error as a share of it. */
  readonly clients: Omit<ClientsReport, 'touched'>
  readonly policies: readonly (ChangedPolicyReport & { readonly name: string })[]
}

/** Requests that one policy denies: the new one for newly denied requests, the old one for newly admitted ones. */
export type ChangedPolicyReport = Omit<ChangedReport, 'policies'>
