import { isUrgent } from '@sluice/fleet/backend'
import type { StoreRequest } from './store-request.ts'

/** Requests that are decided together: with one read and one write. */
export interface RequestGroup {
  requests: StoreRequest[]
  readonly rows: Set<string>
  charges: number
}

export interface GroupLimits {
  /** Most charges of a group with several requests. */
  readonly maxBatch: number
  /** Most rows of a group with several requests. */
  readonly maxRows: number
}

/**
 * Groups requests with common rows, in the order of the requests. A request waits if one of its rows is in use, or if an
 * earlier request waits for it, or if its group is full: then later requests for its rows wait too.
 */
export class RequestGroups {
  readonly waiting: StoreRequest[] = []
  readonly #limits: GroupLimits
  readonly #isInUse: (row: string) => boolean
  readonly #blocked = new Set<string>()
  readonly #groupOf = new Map<string, RequestGroup>()

  constructor(requests: readonly StoreRequest[], isInUse: (row: string) => boolean, limits: GroupLimits) {
    this.#limits = limits
    this.#isInUse = isInUse
    for (const request of requests) {
      if (this.#isBlocked(request) || !this.#join(request)) this.#wait(request)
    }
  }

  /** Returns the groups. Each has its requests in their order. */
  groups(): RequestGroup[] {
    const groups = [...new Set(this.#groupOf.values())]
    for (const group of groups) group.requests.sort((one, other) => one.position - other.position)
    return groups
  }

  #isBlocked({ rows }: StoreRequest): boolean {
    return rows.some((row) => this.#isInUse(row) || this.#blocked.has(row))
  }

  #wait(request: StoreRequest): void {
    this.waiting.push(request)
    for (const row of request.rows) this.#blocked.add(row)
  }

  /** Adds a request to the groups of its rows, which become one group. Returns false if the group would be too large. */
  #join(request: StoreRequest): boolean {
    const touched = new Set<RequestGroup>()
    for (const row of request.rows) {
      const group = this.#groupOf.get(row)
      if (group) touched.add(group)
    }
    const groups = [...touched]
    if (groups.length > 0 && !this.#fits(request, groups)) return false
    const [first = { requests: [], rows: new Set<string>(), charges: 0 }, ...others] = groups
    for (const other of others) this.#move(other, first)
    first.requests.push(request)
    first.charges += request.charges.length
    this.#own(request.rows, first)
    return true
  }

  #fits(request: StoreRequest, groups: readonly RequestGroup[]): boolean {
    // requests with a short deadline share no group with others: one would expire with the other
    if (groups.some(({ requests: [first] }) => isUrgent(first) !== isUrgent(request))) return false
    const charges = groups.reduce((sum, group) => sum + group.charges, request.charges.length)
    const newRows = request.rows.filter((row) => !this.#groupOf.has(row)).length
    const rows = groups.reduce((sum, group) => sum + group.rows.size, newRows)
    return charges <= this.#limits.maxBatch && rows <= this.#limits.maxRows
  }

  #move(from: RequestGroup, to: RequestGroup): void {
    to.requests = to.requests.concat(from.requests)
    to.charges += from.charges
    this.#own(from.rows, to)
  }

  #own(rows: Iterable<string>, group: RequestGroup): void {
    for (const row of rows) {
      group.rows.add(row)
      this.#groupOf.set(row, group)
    }
  }
}
