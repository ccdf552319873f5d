import { BLOCK_LIST } from '@sluice/policies'
import { ClientIds } from '../counts/client-ids.ts'
import { ClientUsage } from '../counts/client-usage.ts'
import type { LogEntry } from '../log/log-entry.ts'
import { ChangedRequests } from './changed-requests.ts'
import { LogClock } from './log-clock.ts'
import type { LogRequest } from './log-request.ts'
import { LogTimes } from './log-times.ts'
import type { PolicyFile } from './policy-file.ts'
import { ReplayedPolicies, type ReplayedRequest } from './replayed-policies.ts'

/** Replays a log through two policy files at once, and finds the requests that they decide differently. */
export class LogDiff {
  readonly newlyDenied: ChangedRequests
  readonly newlyAdmitted: ChangedRequests
  readonly clients: ClientUsage
  readonly times: LogTimes = new LogTimes()
  requests = 0
  deniedBefore = 0
  deniedAfter = 0
  readonly before: ReplayedPolicies
  readonly after: ReplayedPolicies
  readonly #clock = new LogClock()
  readonly request: LogRequest

  constructor(before: PolicyFile, after: PolicyFile, request: LogRequest) {
    this.request = request
    const ids = new ClientIds()
    this.clients = new ClientUsage(ids)
    this.newlyDenied = new ChangedRequests(ids)
    this.newlyAdmitted = new ChangedRequests(ids)
    this.before = new ReplayedPolicies(before, this.#clock)
    this.after = new ReplayedPolicies(after, this.#clock)
  }

  add(entry: LogEntry): void {
    this.#clock.advanceTo(entry.timeMs)
    this.request.entry = entry
    this.times.add(entry.timeMs)
    this.requests++
    this.clients.record(this.request.address, false)
    const before = this.before.decide(this.request)
    const after = this.after.decide(this.request)
    if (before.isDenied) this.deniedBefore++
    if (after.isDenied) this.deniedAfter++
    if (before.isDenied === after.isDenied) return
    if (after.isDenied) this.#record(this.newlyDenied, this.after, after, entry.timeMs)
    else this.#record(this.newlyAdmitted, this.before, before, entry.timeMs)
  }

  /** Records a request that `policies` deny and the other ones admit. */
  #record(
    changed: ChangedRequests,
    policies: ReplayedPolicies,
    request: Readonly<ReplayedRequest>,
    timeMs: number,
  ): void {
    const { place, address } = this.request
    changed.add(address, timeMs, place)
    if (request.listed === 'block') changed.addTo(BLOCK_LIST, address, timeMs, place)
    policies.matcher.policies.forEach(({ name, isShadow }, index) => {
      const key = request.matched[index]?.key
      if (key !== undefined && !isShadow && request.denials[index]) changed.addTo(name, key, timeMs, place)
    })
  }
}
