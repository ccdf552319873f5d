import { concernsOneKey, type PriorUsage } from '@sluice/limiter-core/backend'
import type { Demand, HeldLease } from './held-lease.ts'
import { joinedUsage } from './joined-usage.ts'
import { lateLeaseReply } from './late-lease-reply.ts'
import type { LeaseCall } from './lease-calls.ts'
import type { LeaseGrant, LeaseRequest } from './lease-ledger.ts'

/** A request that waits for the ledger. */
export interface WaitingTake {
  readonly cost: number
  /** Whether it spends the cost if it fits. Otherwise it only reads. */
  readonly spends: boolean
  readonly deadlineAt: number
  readonly known: PriorUsage | undefined
  /** Called with whether the cost fits, after spending it. */
  readonly answer: (fits: boolean) => void
  readonly fail: (error: unknown) => void
}

/** The methods of the lease table that a lease uses. */
export interface LeaseHost {
  /** Whether the last call failed. */
  readonly failing: boolean
  nextSeq(): number
  now(): number
  call(call: LeaseCall): void
  ledgerAnswered(ledgerNow: number): void
  ledgerFailed(): void
  /** Whether charges of a key that are `ageMs` old may be lost in the ledger. */
  mayHaveLost(lease: HeldLease, ageMs: number): boolean
}

/**
 * A lease and the requests that wait for it. One request to the ledger is pending at a time; waiters that arrive
 * meanwhile share the next one.
 */
export class LeaseQueue implements LeaseCall {
  readonly lease: HeldLease
  readonly #home: LeaseHost
  #waiting: WaitingTake[] = []
  #requested: readonly WaitingTake[] = []
  #onSettled: (() => void)[] = []
  #asking = false
  #more = false
  #retired = false
  #deadlineAt = 0

  constructor(lease: HeldLease, home: LeaseHost) {
    this.lease = lease
    this.#home = home
  }

  get asking(): boolean {
    return this.#asking
  }

  get deadlineAt(): number {
    return this.#deadlineAt
  }

  /** Adds a request that waits for the ledger. */
  wait(waiter: WaitingTake): void {
    this.#waiting.push(waiter)
    // a waiter that fits or only reads needs no additional units
    this.#ask(waiter.spends && !this.lease.fits(waiter.cost, this.#home.now()), waiter.deadlineAt)
  }

  /** Requests more units without waiting for them. */
  prefetch(deadlineAt: number): void {
    if (!this.#asking) this.#ask(true, deadlineAt)
  }

  /** Reports the spent and the kept units to the ledger. */
  report(deadlineAt: number): void {
    if (!this.#asking) this.#ask(false, deadlineAt)
  }

  /** See `HeldLease.move`. */
  move(units: number, takenAt: number, now: number): boolean {
    const isMoved = this.lease.move(units, takenAt, now)
    if (isMoved) this.#returnExcess(now)
    return isMoved
  }

  /** Returns all units to the ledger, including units of a pending grant. */
  retire(deadlineAt: number): void {
    this.#retired = true
    const { mustReport } = this.lease
    this.lease.release()
    if (mustReport) this.report(deadlineAt)
  }

  /** Resolves when the pending request has been answered or has failed; undefined if there is none. */
  settled(): Promise<void> | undefined {
    return this.#asking ? new Promise((resolve) => this.#onSettled.push(resolve)) : undefined
  }

  compose(): LeaseRequest {
    this.#requested = this.#waiting
    this.#waiting = []
    const more = this.#more && !this.#retired
    this.#more = false
    this.#deadlineAt = 0
    const now = this.#home.now()
    return this.lease.nextRequest(this.#home.nextSeq(), now, demandOf(this.#requested, this.#known(now)), more)
  }

  granted(ask: LeaseRequest, grant: LeaseGrant, sentAt: number): void {
    const now = this.#home.now()
    this.#home.ledgerAnswered(grant.now)
    this.lease.granted(ask, grant, sentAt, now)
    this.#finish()
    // if the granted units have expired in transit, they are requested again, without the usage that was just sent
    const isGone = grant.granted > 0 && this.lease.hasEnded(now)
    for (const waiter of this.#takeAsked()) {
      if (isLate(waiter, now, waiter.known !== undefined)) continue
      if (isGone && waiter.spends) {
        this.#waiting.push({ ...waiter, known: undefined })
        continue
      }
      const fits = this.#serve(waiter, now)
      if (!fits && waiter.spends) this.lease.view.deny(waiter.cost, now)
      waiter.answer(fits)
    }
    this.#serveLater(now)
    if (this.#retired) this.retire(now + this.lease.leaseMs)
    this.#returnExcess(now)
  }

  failed(error: unknown): void {
    this.#finish()
    if (!concernsOneKey(error)) this.#home.ledgerFailed()
    const all = [...this.#takeAsked(), ...this.#waiting]
    this.#waiting = []
    for (const waiter of all) waiter.fail(error)
  }

  /**
   * Returns usage that the ledger may lack. If the ledger has reported charged units itself, they replace the `used` of
   * callers, which is derived from decisions and less accurate.
   */
  #known(now: number): PriorUsage | undefined {
    const { view } = this.lease
    const ageMs = view.ageMs(now)
    const isKnown = ageMs < Number.POSITIVE_INFINITY
    const charged = isKnown && this.#home.mayHaveLost(this.lease, ageMs) ? view.known(now) : undefined
    const reported = this.#requested.flatMap(({ known }) => known ?? [])
    const others = isKnown ? reported.map((one) => (one.ageMs === undefined ? one : { ...one, used: 0 })) : reported
    return joinedUsage(charged ? [charged, ...others] : others)
  }

  #ask(more: boolean, deadlineAt: number): void {
    this.#more ||= more
    this.#deadlineAt = Math.max(this.#deadlineAt, deadlineAt)
    if (this.#asking) return
    this.#asking = true
    this.#home.call(this)
  }

  /** Returns the units above the maximum that a process holds. A ledger that fails receives them with the next report. */
  #returnExcess(now: number): void {
    if (this.lease.isOverfull && !this.#home.failing) this.report(now + this.lease.leaseMs)
  }

  #finish(): void {
    this.#asking = false
    for (const resolve of this.#onSettled.splice(0)) resolve()
  }

  #takeAsked(): readonly WaitingTake[] {
    const requested = this.#requested
    this.#requested = []
    return requested
  }

  #serve({ cost, spends }: WaitingTake, now: number): boolean {
    if (!spends) return cost <= this.lease.remaining(now)
    const fits = this.lease.fits(cost, now) || cost === 0
    if (fits) this.lease.spend(cost)
    return fits
  }

  /** Serves waiters that arrived during the call from the remaining units, or lets them wait for the next call. */
  #serveLater(now: number): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const waiter of waiting) {
      if (isLate(waiter, now, false)) continue
      if (!waiter.known && waiter.spends && this.#serve(waiter, now)) waiter.answer(true)
      else if (!waiter.known && waiter.spends && this.lease.view.denied(waiter.cost, now)) waiter.answer(false)
      else this.wait(waiter)
    }
  }
}

/**
 * Fails a waiter whose deadline has passed. The units that it would have spent stay in the lease. `mayHaveCounted`:
 * whether the ledger may have counted usage that the waiter knows.
 */
function isLate({ deadlineAt, fail }: WaitingTake, now: number, mayHaveCounted: boolean): boolean {
  if (now < deadlineAt) return false
  fail(lateLeaseReply(mayHaveCounted))
  return true
}

function demandOf(waiters: readonly WaitingTake[], known: PriorUsage | undefined): Demand {
  const spending = waiters.filter(({ spends }) => spends).map(({ cost }) => cost)
  return {
    units: spending.reduce((sum, cost) => sum + cost, 0),
    // `Math.min(...spending)` would fail if too many requests wait
    least: spending.reduce((least, cost) => Math.min(least, cost), waiters.length > 0 ? Number.POSITIVE_INFINITY : 1),
    most: waiters.reduce((most, { cost }) => Math.max(most, cost), 0),
    known,
  }
}
