// index.d.ts
import { Readable } from 'node:stream'
import { AlgorithmName, Clock } from '@sluice/limiter-core'

interface DiffOptions extends LogOptions, CommandStreams {
	readonly log: readonly string[]
	readonly json?: boolean | undefined
}

interface LogOptions {
	readonly format?: string | undefined
	readonly routes?: readonly string[] | undefined
	readonly attributes?: Readonly<Record<string, string>> | undefined
}

interface CommandStreams {
	readonly stdin?: Readable | undefined
	readonly stdout?: TextOutput | undefined
	readonly stderr?: TextOutput | undefined
}
interface TextOutput {
	write(text: string): unknown
	readonly isTTY?: boolean | undefined
	readonly columns?: number | undefined
}

declare function diffCommand(before: string, after: string, options: DiffOptions): Promise<number>

interface ReplayOptions extends LogOptions, CommandStreams {
	readonly policies: string
	readonly json?: boolean | undefined
	readonly html?: string | undefined
}

declare function replayCommand(files: readonly string[], options: ReplayOptions): Promise<number>

interface DiffReport {
	readonly version: 1
	readonly log: LogSummary & {
		readonly from: string | null
		readonly to: string | null
	}
	readonly requests: number
	readonly clients: Omit<ClientsReport, 'touched'>
	readonly denied: {
		readonly before: number
		readonly after: number
	}
	readonly newlyDenied: ChangedReport
	readonly newlyAdmitted: ChangedReport
	readonly notes: readonly string[]
}

interface LogSummary {
	readonly files: readonly FileSummary[]
	readonly lines: number
	readonly malformed: {
		readonly count: number
		readonly samples: readonly MalformedLine[]
	}
	readonly late: {
		readonly count: number
		readonly latestByMs: number
	}
}

interface FileSummary {
	readonly name: string
	readonly lines: number
	readonly isUnfinished: boolean
	readonly problem?: string
}
interface MalformedLine {
	readonly file: string
	readonly line: number
	readonly reason: string
	readonly text: string
}

interface ClientsReport {
	readonly count: number
	readonly error: number
	readonly touched: number
	readonly sample: number
}

interface ChangedReport extends Omit<CountsReport, 'denied' | 'clients'> {
	readonly clients: Omit<ClientsReport, 'touched'>
	readonly policies: readonly (ChangedPolicyReport & {
		readonly name: string
	})[]
}

interface CountsReport {
	readonly requests: number
	readonly denied: number
	readonly clients: ClientsReport
	readonly peakHour: HourReport | null
	readonly hours: readonly HourReport[]
	readonly topKeys: readonly TopReport[]
	readonly topRoutes: readonly TopReport[]
}

interface HourReport {
	readonly at: string
	readonly requests: number
	readonly denied: number
}

interface TopReport {
	readonly key: string
	readonly denied: number
	readonly error: number
	readonly requests?: number
}

type ChangedPolicyReport = Omit<ChangedReport, 'policies'>

interface ReplayReport {
	readonly version: 1
	readonly log: LogSummary & {
		readonly from: string | null
		readonly to: string | null
	}
	readonly total: CountsReport
	readonly lists: ListsReport | null
	readonly policies: readonly PolicyReport[]
	readonly notes: readonly string[]
}

interface ListsReport {
	readonly blocked: number
	readonly allowed: number
}

interface PolicyReport extends CountsReport {
	readonly name: string
	readonly mode: 'enforce' | 'shadow' | 'off'
	readonly limit: number | Readonly<Record<string, number>>
	readonly per: string
	readonly unit: string
	readonly algorithm: AlgorithmName | null
	readonly demand: DemandReport
	readonly proposal: ProposalReport | null
	readonly plans: readonly PlanReport[]
	readonly bans: BansReport | null
}

interface DemandReport {
	readonly percentiles: readonly PercentileReport[]
	readonly largest: number
	readonly measured: 'exactly' | 'in slices'
	readonly curve: readonly number[]
}

interface PercentileReport {
	readonly share: number
	readonly limit: number
	readonly rankError: number
}

interface ProposalReport {
	readonly limit: number
	readonly reason: string
}

interface PlanReport {
	readonly plan: string
	readonly limit: number
	readonly requests: number
	readonly denied: number
	readonly clients: ClientsReport
	readonly demand: Pick<DemandReport, 'percentiles' | 'largest'>
	readonly proposal: ProposalReport | null
}

interface BansReport {
	readonly begun: number
	readonly denied: number
}

interface CliOptions {
	readonly stdout?: Output | undefined
	readonly stderr?: Output | undefined
	readonly env?: Readonly<Record<string, string | undefined>> | undefined
	readonly signal?: AbortSignal | undefined
	readonly clock?: Clock | undefined
}

interface Output {
	write(text: string): boolean
	readonly isTTY?: boolean | undefined
	readonly columns?: number | undefined
	readonly rows?: number | undefined
	readonly writableNeedDrain?: boolean | undefined
	on?(event: 'resize', run: () => void): unknown
	off?(event: 'resize', run: () => void): unknown
}

declare function runCli(args: readonly string[], options?: CliOptions): Promise<number>
export {
	type DiffOptions,
	diffCommand,
	type LogOptions,
	type ReplayOptions,
	replayCommand,
	type DiffReport,
	type ReplayReport,
	type CliOptions,
	runCli,
	type Output
}
