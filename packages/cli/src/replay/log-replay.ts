import { ClientIds } from '../counts/client-ids.ts'
import { DenialCounts } from '../counts/denial-counts.ts'
import type { LogEntry } from '../log/log-entry.ts'
import { LogClock } from './log-clock.ts'
import type { LogRequest } from './log-request.ts'
import { LogTimes } from './log-times.ts'
import type { PolicyFile } from './policy-file.ts'
import { PolicyReplay } from './policy-replay.ts'
import { ReplayedPolicies } from './replayed-policies.ts'

/** Replays the requests of a log through the policies of a file, on the time of the log. */
export class LogReplay {
  /** All requests; a client is an address. */
  readonly total: DenialCounts
  /** Replayed policies, in the order of the file; undefined for a policy that is off. */
  readonly policies: readonly (PolicyReplay | undefined)[]
  readonly replayed: ReplayedPolicies
  readonly times: LogTimes = new LogTimes()
  /** Number of requests that the block list denied. */
  blocked = 0
  /** Number of requests to which no policy applied because of the allow list. */
  exempt = 0
  readonly #clock = new LogClock()
  readonly request: LogRequest

  constructor(file: PolicyFile, request: LogRequest) {
    this.request = request
    const ids = new ClientIds()
    this.total = new DenialCounts(ids)
    this.replayed = new ReplayedPolicies(file, this.#clock)
    this.policies = this.replayed.compiled.map(
      (policy, index) => policy && new PolicyReplay(this.replayed.matcher.policies[index], policy, ids, this.#clock),
    )
  }

  /** Replays one request. An earlier time than that of the last request counts as the time of the last request. */
  add(entry: LogEntry): void {
    const { timeMs } = entry
    const request = this.request
    this.#clock.advanceTo(timeMs)
    request.entry = entry
    this.times.add(timeMs)
    const { isDenied, isBanned, listed, matched, denials, costs } = this.replayed.decide(request)
    if (listed === 'block') this.blocked++
    else if (listed === 'allow') this.exempt++
    if (isDenied) this.total.deny(request.address, timeMs, request.place)
    else this.total.allowed(request.address, timeMs)
    for (let index = 0; index < matched.length; index++) {
      const match = matched[index]
      const policy = this.policies[index]
      if (!match || !policy) continue
      policy.record(match, costs[index], timeMs, denials[index], this.#place)
      if (isBanned && denials[index]) policy.banned++
    }
  }

  readonly #place = (): string => this.request.place
}
