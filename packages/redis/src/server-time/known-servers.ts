import { TimedCalls, type TimedCallsOptions } from './timed-calls.ts'
import { UsageReports } from './usage-reports.ts'

/** Clocks and identities of the servers behind a runner, shared by all calls of a backend. */
export class ServerState {
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
