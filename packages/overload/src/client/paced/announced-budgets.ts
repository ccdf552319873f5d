import type { Budget } from '../announced/budget.ts'

/** Weight of one response in the mean units of a request. */
const SMOOTHING = 0.2
/** Resets are rounded to seconds, so those that differ by less are taken to be the same. */
const ROUNDED_MS = 1_000

interface Known {
  readonly limit: number | undefined
  readonly windowMs: number | undefined
  /** Units that this process may still take. */
  remaining: number
  /** Not before the reset. */
  resetAtMs: number
  /** How long responses take: a reset is probably so much earlier. */
  readonly oneWayMs: number
  /** Mean units of a request. */
  perRequest: number
  /** Units as they were announced, to learn what a request costs. */
  readonly announced: number
}

/** The budgets that an upstream announced, and what this process has taken since. Times are in ms of one clock. */
export class AnnouncedBudgets {
  readonly #maxMs: number
  readonly #first: number
  #known = new Map<string, Known>()
  /** When the last call was sent whose response was read. */
  #sentAtMs = Number.NEGATIVE_INFINITY

  /**
   * `maxMs`: longest time for which a budget is believed to be used up; `first`: requests that are sent after a reset
   * before a response has shown what is left.
   */
  constructor(maxMs: number, first: number) {
    this.#maxMs = maxMs
    this.#first = first
  }

  get size(): number {
    return this.#known.size
  }

  /** Smallest number of requests that are left; undefined if nothing is known. */
  get remaining(): number | undefined {
    const left = [...this.#known.values()].map(({ remaining, perRequest }) => Math.floor(remaining / perRequest))
    return left.length > 0 ? Math.max(0, Math.min(...left)) : undefined
  }

  /**
   * Learns from the response to a call that was sent at `atMs`. `later`: calls that were sent after
   * it, which the upstream had not counted then.
   */
  learn(budgets: readonly Budget[], atMs: number, later: number, now: number): void {
    // a response that was overtaken shows more than is left
    if (budgets.length === 0 || atMs < this.#sentAtMs) return
    this.#sentAtMs = atMs
    const known = new Map<string, Known>()
    for (const budget of budgets) {
      const next = this.#next(budget, this.#known.get(budget.name), later, now, (now - atMs) / 2)
      if (next) known.set(budget.name, next)
    }
    this.#known = known
  }

  /** Returns the milliseconds until a request fits into all budgets. */
  waitMs(now: number): number {
    let longest = 0
    for (const [name, budget] of this.#known) {
      if (budget.remaining >= budget.perRequest) continue
      const waitMs = budget.resetAtMs - now
      if (waitMs <= 0) this.#renew(name, budget, now)
      else longest = Math.max(longest, waitMs)
    }
    return longest
  }

  /** Returns the milliseconds between two requests that spread the units that are left over the rest of the window. */
  gapMs(now: number): number {
    let longest = 0
    for (const budget of this.#known.values()) longest = Math.max(longest, gapOf(budget, now))
    return Math.min(longest, this.#maxMs)
  }

  /** Takes the units of requests that are sent, by this process or others. */
  take(requests: number): void {
    for (const budget of this.#known.values()) budget.remaining -= requests * budget.perRequest
  }

  #next(budget: Budget, before: Known | undefined, later: number, now: number, oneWayMs: number): Known | undefined {
    const { remaining, resetMs, limit, isRequests } = budget
    // without a reset it is not known until when the units must last
    if (resetMs === undefined) return undefined
    const atMs = now + Math.min(resetMs, this.#maxMs)
    const isSame = before !== undefined && before.resetAtMs > now && Math.abs(atMs - before.resetAtMs) < ROUNDED_MS
    const perRequest = isRequests ? 1 : costOf(before, remaining)
    return {
      limit,
      windowMs: budget.windowMs ?? Math.max(resetMs, before?.windowMs ?? 0),
      remaining: Math.max(0, remaining - later * perRequest),
      resetAtMs: isSame ? Math.min(before.resetAtMs, atMs) : atMs,
      oneWayMs,
      perRequest,
      announced: remaining,
    }
  }

  /** After a reset, a part of the limit is used until a response shows what is left. */
  #renew(name: string, budget: Known, now: number): void {
    const { limit, windowMs, perRequest } = budget
    if (limit === undefined || !windowMs) {
      this.#known.delete(name)
      return
    }
    budget.remaining = Math.min(limit, this.#first * perRequest)
    budget.resetAtMs = now + (budget.remaining / limit) * windowMs
  }
}

/** Windows that slide, and buckets, announce a time that is not the end of a window: the policy bounds the rate, too. */
function gapOf({ remaining, resetAtMs, oneWayMs, perRequest, limit, windowMs }: Known, now: number): number {
  const requests = remaining / perRequest
  if (requests < 1) return 0
  const spreadMs = Math.max(0, resetAtMs - oneWayMs - now) / requests
  if (!limit || !windowMs) return spreadMs
  return Math.max(spreadMs, ((windowMs / limit) * perRequest) / (1 + remaining / limit))
}

function costOf(before: Known | undefined, remaining: number): number {
  const known = before?.perRequest ?? 1
  const used = before ? before.announced - remaining : 0
  // more units than before: the budget was renewed
  return used > 0 ? Math.max(1, known + (used - known) * SMOOTHING) : known
}
