import { type CompiledPolicy, type Fund, NUMBERS, type PriorUsage } from '@sluice/limiter-core/backend'
import type { LeaseGrant } from './lease-ledger.ts'

/** Maximum time for which a denial is remembered, so that a flood of requests for the key causes few calls. */
const DENIED_MS = 100

/** The charged units of a key in a reply. */
interface Charged {
  readonly units: number
  readonly resetAfterMs: number
  readonly requestedAt: number
  readonly answeredAt: number
}

/** The last reply of the ledger about one key. Times are process times. */
export class LedgerView {
  /** Units that were neither charged nor leased at the last reply. */
  free = 0
  /** Milliseconds to add to the process clock for the ledger's clock, or slightly less; undefined before a reply. */
  offsetMs: number | undefined
  /** The fund of the leased or missing units, if the ledger reports it. */
  fund: Fund | undefined
  readonly #compiled: CompiledPolicy
  #charged: Charged | undefined
  /** Capacity of the key in its period, if it differs from the policy. */
  #ownCapacity: number | undefined
  #resetAt = Number.NEGATIVE_INFINITY
  #availableAt = Number.NEGATIVE_INFINITY
  #retryAt = Number.NEGATIVE_INFINITY
  #deniedUntil = Number.NEGATIVE_INFINITY
  #deniedCost = Number.POSITIVE_INFINITY

  constructor(compiled: CompiledPolicy) {
    this.#compiled = compiled
  }

  /** Maximum number of units that the key can have, as last reported. */
  get capacity(): number {
    return this.#ownCapacity ?? this.#compiled.capacity
  }

  /**
   * Returns the largest cost that may fit: Infinity for a calendar period that the ledger has not reported yet, because
   * its capacity is unknown.
   */
  maxCost(now: number): number {
    const isUnknown = this.#compiled.policy.calendar !== undefined && now >= this.#resetAt
    return isUnknown ? Number.POSITIVE_INFINITY : this.capacity
  }

  /** Stores the reply to a request sent at `requestedAt`. */
  update(grant: LeaseGrant, requestedAt: number, now: number): void {
    const { free, charged, now: ledgerNow, resetAfterMs, retryAfterMs } = grant
    this.fund = grant.fund
    this.#ownCapacity = grant.capacity
    this.free = free
    this.offsetMs = ledgerNow - now
    this.#charged = { units: charged, resetAfterMs, answeredAt: now, requestedAt }
    // if nothing is charged, the waits are computed as if all leased units were spent now
    const isFresh = resetAfterMs === 0 && !this.#compiled.policy.calendar
    const waits = isFresh ? afterSpending(this.#compiled, this.#compiled.capacity - free) : grant
    this.#resetAt = now + waits.resetAfterMs
    this.#availableAt = now + (waits.availableAfterMs ?? waits.resetAfterMs)
    // Infinity refers to a cost that never fits, not to smaller costs
    this.#retryAt = now + (retryAfterMs < Number.POSITIVE_INFINITY ? retryAfterMs : resetAfterMs)
  }

  /** Returns the milliseconds since the request whose reply reported the charged units; Infinity if there is none. */
  ageMs(now: number): number {
    return this.#charged ? now - this.#charged.requestedAt : Number.POSITIVE_INFINITY
  }

  /** Returns the charged units of the last reply that have not expired, without leased units. */
  known(now: number): PriorUsage | undefined {
    if (!this.#charged) return undefined
    if (this.#compiled.policy.calendar) return this.#knownOfPeriod(this.#charged, now)
    const { units, resetAfterMs, answeredAt } = this.#charged
    const cells = new Float64Array(this.#compiled.cells)
    this.#compiled.adopt(cells, 0, answeredAt, units, resetAfterMs)
    const used = this.#compiled.capacity - this.#compiled.remaining(cells, 0, now)
    const leftMs = this.#compiled.resetAfterMs(cells, 0, now)
    return used > 0 && leftMs > 0 ? { used, resetAfterMs: leftMs, ageMs: this.ageMs(now) } : undefined
  }

  /** Charged units count until the period ends, even if they exceed the capacity of the policy. */
  #knownOfPeriod({ units, resetAfterMs, answeredAt }: Charged, now: number): PriorUsage | undefined {
    const leftMs = answeredAt + resetAfterMs - now
    return units > 0 && leftMs > 0 ? { used: units, resetAfterMs: leftMs, ageMs: this.ageMs(now) } : undefined
  }

  /** Whether a remembered denial applies to `cost`. */
  denied(cost: number, now: number): boolean {
    return now < this.#deniedUntil && cost >= this.#deniedCost
  }

  /** Whether a denial is remembered. */
  remembers(now: number): boolean {
    return now < this.#deniedUntil
  }

  /** Remembers for at most 100 ms that `cost` did not fit. */
  deny(cost: number, now: number): void {
    if (now >= this.#deniedUntil) this.#deniedCost = Number.POSITIVE_INFINITY
    this.#deniedCost = Math.min(this.#deniedCost, cost)
    this.#deniedUntil = Math.min(now + DENIED_MS, Math.max(this.#retryAt, now + 1))
  }

  /** Forgets the denial, because the ledger may have more free units than before. */
  forgetDenial(): void {
    this.#deniedUntil = Number.NEGATIVE_INFINITY
  }

  /** Forgets everything after a reset of the key. */
  forget(): void {
    this.#charged = undefined
    this.forgetDenial()
  }

  /** Returns the estimated whole milliseconds until `cost` may fit; Infinity if it never fits. */
  retryAfterMs(cost: number, now: number): number {
    if (cost > this.capacity) return Number.POSITIVE_INFINITY
    return Math.max(1, Math.ceil(this.#retryAt - now))
  }

  /** Returns the milliseconds until all units are available again, as last reported. */
  resetAfterMs(now: number): number {
    return Math.max(0, this.#resetAt - now)
  }

  /**
   * Returns the estimated whole milliseconds until more than `remaining` units fit: at most `retryAfterMs` if a cost
   * waits (above 0), and 0 if `remaining` is the capacity.
   */
  availableAfterMs(remaining: number, retryAfterMs: number, now: number): number {
    if (remaining >= this.capacity) return 0
    return Math.min(Math.max(1, Math.ceil(this.#availableAt - now)), retryAfterMs || Number.POSITIVE_INFINITY)
  }
}

/** Returns the waits of an unused key from which `used` units are taken now. */
function afterSpending(compiled: CompiledPolicy, used: number): Pick<LeaseGrant, 'resetAfterMs' | 'availableAfterMs'> {
  if (used <= 0) return { resetAfterMs: 0 }
  const cells = new Float64Array(compiled.cells)
  compiled.spend(cells, 0, 1, Math.min(used, compiled.capacity))
  const numbers = new Float64Array(NUMBERS)
  compiled.numbers(cells, 0, 1, 0, 0, numbers)
  const [, , resetAfterMs, availableAfterMs] = numbers
  return { resetAfterMs, availableAfterMs }
}
