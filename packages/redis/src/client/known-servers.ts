import { TimedCalls, type TimedCallsOptions } from './timed-calls.ts'
import { UsageReports } from './usage-reports.ts'

/** The servers behind a runner: their clocks, and what to report to each. Shared by all calls of a backend. */
export class KnownServers {
  readonly calls: TimedCalls
  readonly reports: UsageReports
  readonly #stopListening: (() => void) | undefined

  constructor(options: TimedCallsOptions) {
    const { runner, clock, serverTime } = options
    this.calls = new TimedCalls(options)
    const { times } = this.calls
    this.reports = new UsageReports(times, clock, serverTime)
    this.#stopListening = runner.interrupted?.((_, server) => times.forget(server))
  }

  close(): void {
    this.#stopListening?.()
  }
}
