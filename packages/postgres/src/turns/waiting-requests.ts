import { lateFailure } from '../server/postgres-failure.ts'
import type { LimitRequest } from './limit-request.ts'

/** Requests that wait for a statement, and the rows of the statements under way. */
export class WaitingRequests {
  #requests: readonly LimitRequest[] = []
  readonly #busy = new Set<string>()

  get any(): boolean {
    return this.#requests.length > 0
  }

  add(requests: readonly LimitRequest[]): void {
    this.#requests = [...this.#requests, ...requests]
  }

  /** Adds requests before all others. */
  addFirst(requests: readonly LimitRequest[]): void {
    this.#requests = [...requests, ...this.#requests]
  }

  /**
   * Removes and returns requests for up to `most` rows that are in no statement under way; a request with more rows is
   * returned alone. The rows are busy until `release`. Requests for one row stay in their order. Rejects requests whose
   * deadline has passed at the process time `now`.
   */
  take(most: number, now: number): readonly LimitRequest[] {
    const requests = this.#requests.filter((request) => {
      if (request.deadlineAt > now) return true
      request.reject(lateFailure())
      return false
    })
    const taken: LimitRequest[] = []
    const names = new Set<string>()
    // rows of requests that stay must not be taken by later requests
    const blocked = new Set(this.#busy)
    this.#requests = requests.filter((request) => {
      const isTaken = fits(request, { names, blocked, most })
      if (isTaken) taken.push(request)
      for (const name of request.names) (isTaken ? names : blocked).add(name)
      return !isTaken
    })
    for (const name of names) this.#busy.add(name)
    return taken
  }

  release(requests: readonly LimitRequest[]): void {
    for (const request of requests) for (const name of request.names) this.#busy.delete(name)
  }
}

interface Taken {
  readonly names: ReadonlySet<string>
  readonly blocked: ReadonlySet<string>
  readonly most: number
}

function fits(request: LimitRequest, { names, blocked, most }: Taken): boolean {
  if (request.names.some((name) => blocked.has(name))) return false
  const added = request.names.length === 1 ? Number(!names.has(request.names[0])) : newNames(request, names)
  return added === 0 || names.size === 0 || names.size + added <= most
}

function newNames(request: LimitRequest, names: ReadonlySet<string>): number {
  return new Set(request.names.filter((name) => !names.has(name))).size
}
