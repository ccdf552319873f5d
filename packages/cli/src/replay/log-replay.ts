import type { PolicyDocument } from '@sluice/policies'
import { ClientIds } from '../counts/client-ids.ts'
import { DenialCounts } from '../counts/denial-counts.ts'
import type { LogEntry } from '../log/log-entry.ts'
import { LogClock } from './log-clock.ts'
import type { LogRequest } from './log-request.ts'
import { LogTimes } from './log-times.ts'
import { PolicyReplay } from './policy-replay.ts'
import { ReplayedPolicies } from './replayed-policies.ts'
import { demandBackend } from './window-demand.ts'

/** Replays the requests of a log through the policies of a file, on the time of the log. */
export class LogReplay {
  /** All requests; a client is an address. */
  readonly total: DenialCounts
  /** Replayed policies, in the order of the file; undefined for a policy that is off. */
  readonly policies: readonly (PolicyReplay | undefined)[]
  readonly replayed: ReplayedPolicies
  readonly times: LogTimes = new LogTimes()
  readonly #clock = new LogClock()
  readonly request: LogRequest

  constructor(document: PolicyDocument, request: LogRequest) {
    this.request = request
    const ids = new ClientIds()
    this.total = new DenialCounts(ids)
    this.replayed = new ReplayedPolicies(document, this.#clock)
    const backend = demandBackend(this.#clock)
    this.policies = this.replayed.compiled.map(
      (policy) => policy && new PolicyReplay(policy, ids, backend, this.#clock),
    )
  }

  /** Replays one request. An earlier time than that of the last request counts as the time of the last request. */
  add(entry: LogEntry): void {
    const { timeMs } = entry
    const request = this.request
    this.#clock.advanceTo(timeMs)
    request.entry = entry
    this.times.add(timeMs)
    const { isDenied, matched, denials, costs } = this.replayed.decide(request.read)
    if (isDenied) this.total.deny(request.address, timeMs, request.place)
    else this.total.allowed(request.address, timeMs)
    for (let index = 0; index < matched.length; index++) {
      const key = matched[index]?.key
      if (key !== undefined) this.policies[index]?.record(key, costs[index], timeMs, denials[index], this.#place)
    }
  }

  readonly #place = (): string => this.request.place
}
