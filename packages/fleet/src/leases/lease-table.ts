import { randomInt } from 'node:crypto'
import type { Clock, CountedKey } from '@sluice/limiter-core/backend'
import { settledWithin } from '../backend/settled-within.ts'
import { HeldLease } from './held-lease.ts'
import { type LeaseCall, LeaseCalls } from './lease-calls.ts'
import { type LeaseLedger, type LeaseTerms, REPORTS_PER_LEASE } from './lease-ledger.ts'
import { type LeaseHost, LeaseQueue } from './lease-queue.ts'
import type { LeasedKey } from './leased-counter.ts'

/** Maximum number of keys with a lease or a remembered denial. Beyond it, the oldest key without a call is evicted. */
const MAX_KEYS = 10_000
/** Maximum number of leases reported in one tick, which takes well under a millisecond. */
const MAX_REPORTS = 500
const CLOSE_TIMEOUT_MS = 1_000
/** Milliseconds between reports to a ledger that does not reply. */
const RETRY_EVERY_MS = 1_000
/** Minimum number of milliseconds between two ticks. */
const MIN_TICK_MS = 25
/** Number of oldest keys that are examined to find one without a pending call. */
const EXAMINED = 16
/** Leases are numbered from a random number below this, so that numbers of two processes practically never collide. */
const MAX_OWNER = 2 ** 48 - 1

/**
 * The leases of one process. Each lease is reported three times during its duration. A key that is not used returns its
 * lease after a third of the duration.
 */
export class LeaseTable implements LeaseHost {
  #owner: number = randomInt(MAX_OWNER)
  readonly #terms: LeaseTerms
  readonly #clock: Clock
  readonly #ledger: LeaseLedger
  readonly #calls: LeaseCalls
  readonly #counts = new Map<string, Map<string, LeaseQueue>>()
  #keys = 0
  #seq = 0
  #offsetMs = 0
  #failing = false
  #retryAt = Number.NEGATIVE_INFINITY
  #wakesAt = Number.POSITIVE_INFINITY
  #stopTimer: (() => void) | undefined
  #isClosed = false

  constructor(ledger: LeaseLedger, terms: LeaseTerms, clock: Clock) {
    this.#terms = terms
    this.#clock = clock
    this.#ledger = ledger
    this.#calls = new LeaseCalls(ledger, clock)
  }

  /** Number of keys with a lease or a remembered denial. */
  get size(): number {
    return this.#keys
  }

  now(): number {
    return this.#clock.now()
  }

  nextSeq(): number {
    return ++this.#seq
  }

  call(call: LeaseCall): void {
    this.#calls.add(call)
  }

  ledgerAnswered(ledgerNow: number): void {
    this.#offsetMs = ledgerNow - this.#clock.now()
    this.#failing = false
  }

  ledgerFailed(): void {
    this.#failing = true
  }

  mayHaveLost({ key, counter }: LeasedKey, ageMs: number): boolean {
    return this.#ledger.mayHaveLost?.({ key, counter: counter.exact }, ageMs) ?? false
  }

  /** Whether the last call failed. The ledger is then called only for requests that must wait and once per second. */
  get failing(): boolean {
    return this.#failing
  }

  /** Returns the milliseconds to add to the process clock for the clock of the key's ledger, or slightly less. */
  offsetMs(target: CountedKey): number {
    return this.find(target)?.lease.view.offsetMs ?? this.#offsetMs
  }

  /** Returns the lease of a key; creates an empty one if there is none. */
  of({ key, counter }: LeasedKey, now: number): LeaseQueue {
    const leases = this.#leasesOf(counter.name)
    const queue = leases.get(key)
    if (queue && (queue.lease.counter === counter || queue.lease.hasSameLimitAs(counter.compiled))) return queue
    // plans share a count, but units leased under one plan cannot be spent under another
    if (queue) this.#drop(leases, queue, now)
    if (this.#keys >= MAX_KEYS) this.#evict(now)
    const lease = new HeldLease({ key, counter }, this.#terms, ++this.#owner, now)
    const made = new LeaseQueue(lease, this)
    if (this.#isClosed) return lastOf(made, now)
    leases.set(key, made)
    this.#keys++
    this.#wakeAt(lease.dueAt)
    return made
  }

  /** Returns the lease of a key, if there is one. */
  find({ key, counter }: CountedKey): LeaseQueue | undefined {
    return this.#counts.get(counter.name)?.get(key)
  }

  /** Discards the units of a key that is being reset. */
  forget(target: CountedKey): void {
    const queue = this.find(target)
    queue?.lease.forget(this.nextSeq())
    queue?.report(this.now() + queue.lease.leaseMs)
  }

  /** Returns all leases to the ledger and waits at most one second for the replies. Later requests fail. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#stopTimer?.()
    this.#wakesAt = Number.POSITIVE_INFINITY
    const now = this.now()
    for (const leases of this.#counts.values()) for (const queue of leases.values()) this.#drop(leases, queue, now)
    await settledWithin(this.#calls.idle(), CLOSE_TIMEOUT_MS, this.#clock)
    this.#calls.close()
  }

  #leasesOf(name: string): Map<string, LeaseQueue> {
    const leases = this.#counts.get(name) ?? new Map<string, LeaseQueue>()
    this.#counts.set(name, leases)
    return leases
  }

  #drop(leases: Map<string, LeaseQueue>, queue: LeaseQueue, now: number): void {
    const { lease } = queue
    leases.delete(lease.key)
    this.#keys--
    queue.retire(now + lease.leaseMs)
  }

  /** Evicts the oldest key that has no pending call, if there is one among the first `EXAMINED` keys. */
  #evict(now: number): void {
    for (const leases of this.#counts.values()) {
      const oldest = firstOf(leases.values(), EXAMINED)
      const quiet = oldest.find(({ asking }) => !asking)
      if (quiet) {
        this.#drop(leases, quiet, now)
        return
      }
    }
  }

  #wakeAt(at: number): void {
    if (this.#isClosed || this.#wakesAt <= at) return
    this.#stopTimer?.()
    this.#wakesAt = at
    this.#stopTimer = this.#clock.after(at - this.now(), this.#tick)
  }

  readonly #tick = (): void => {
    const now = this.now()
    this.#wakesAt = Number.POSITIVE_INFINITY
    this.#calls.giveUpLost(now)
    let reports = 0
    let nextAt = Number.POSITIVE_INFINITY
    for (const leases of this.#counts.values()) {
      for (const queue of leases.values()) {
        if (queue.lease.dueAt <= now && reports < MAX_REPORTS && this.#review(leases, queue, now)) reports++
        nextAt = Math.min(nextAt, queue.lease.dueAt)
      }
    }
    // leases that are due but were not reported follow in the next tick
    if (this.#keys > 0) this.#wakeAt(Math.max(nextAt, now + MIN_TICK_MS))
  }

  #canReport(now: number): boolean {
    if (!this.#failing) return true
    if (now < this.#retryAt) return false
    this.#retryAt = now + RETRY_EVERY_MS
    return true
  }

  /** Reports a lease that is due. Returns false if there is nothing to report. */
  #review(leases: Map<string, LeaseQueue>, queue: LeaseQueue, now: number): boolean {
    const { lease } = queue
    lease.dueAt = now + lease.leaseMs / REPORTS_PER_LEASE
    if (queue.asking) return false
    if (lease.isIdle(now)) this.#drop(leases, queue, now)
    if (!lease.mustReport || !this.#canReport(now)) return false
    lease.review()
    queue.report(now + lease.leaseMs)
    return true
  }
}

/** Retires a new lease, for requests after `close`: granted units are spent and the rest is returned at once. */
function lastOf(queue: LeaseQueue, now: number): LeaseQueue {
  queue.retire(now)
  return queue
}

function firstOf<T>(all: Iterable<T>, count: number): T[] {
  const first: T[] = []
  for (const one of all) {
    if (first.push(one) === count) break
  }
  return first
}
