import type { ClientIds } from '../counts/client-ids.ts'
import { DenialCounts } from '../counts/denial-counts.ts'

/** Requests that a change of policies would decide in another way, all of them and by the policy that denies them. */
export class ChangedRequests {
  /** All of them; a client is an address. */
  readonly total: DenialCounts
  readonly #policies = new Map<string, DenialCounts>()
  readonly #ids: ClientIds

  /** `ids`: the clients of the log. */
  constructor(ids: ClientIds) {
    this.#ids = ids
    this.total = new DenialCounts(ids)
  }

  add(address: string, timeMs: number, place: string): void {
    this.total.deny(address, timeMs, place)
  }

  /** Adds a request to a policy that denies it. */
  addTo(policy: string, key: string, timeMs: number, place: string): void {
    const counts = this.#policies.get(policy) ?? new DenialCounts(this.#ids)
    this.#policies.set(policy, counts)
    counts.deny(key, timeMs, place)
  }

  /** Returns the policies that deny one of the requests. */
  byPolicy(): ReadonlyMap<string, DenialCounts> {
    return this.#policies
  }
}
