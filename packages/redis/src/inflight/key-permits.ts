import {
  type Cap,
  type Clock,
  type Denial,
  FULL,
  HeldPermit,
  type MaxHoldTimer,
  type MaxHoldTimers,
  type Permit,
  type PermitOwner,
} from '@sluice/limiter-core/backend'
import type { Deferred } from './deferred.ts'
import type { HoldTimes } from './hold-times.ts'
import type { PendingAcquire } from './pending-acquire.ts'

/**
 * Fraction of the mean hold time for which a place is left free for others. More would waste more than it equalises.
 */
const PATIENCE = 1 / 4

/** Dependencies that all keys of a process share. */
export interface KeyPermitsDeps {
  readonly clock: Clock
  readonly leaseMs: number
  readonly deadlineMs: number
  readonly holdTimes: HoldTimes
  /** Revokes permits that are held too long. */
  readonly maxHoldTimers: MaxHoldTimers
  /** Called when the held places differ from the record of the server. */
  readonly changed: (holding: KeyPermits) => void
  /** Called when this process grants or denies places alone. */
  readonly uncounted: () => void
  /** Called before leases are read, to detect whether the process was suspended. */
  readonly awake: () => void
}

export interface KeyPermitsState {
  readonly key: string
  /** Redis key. */
  readonly name: string
  readonly cap: Cap
  readonly maxHoldMs: number | undefined
}

/** Report of this process about one key, and the callers that wait for the reply. */
export interface KeyRequest {
  /** Number of places that this process holds. */
  readonly held: number
  /** Whether the lease may have expired, so that other processes may have taken the places. */
  readonly lapsed: boolean
  readonly acquires: readonly PendingAcquire[]
  readonly counts: readonly Deferred<number>[]
}

/**
 * Permits of this process for one key of one cap, with the state that the server has acknowledged and waiting callers.
 */
export class KeyPermits implements PermitOwner {
  readonly key: string
  /** Redis key. */
  readonly name: string
  /** The cap of the last caller. */
  cap: Cap
  /** Whether a call about this key is pending or may still arrive at the server. No other call is sent until then. */
  busy = false
  /** Whether the last call may still arrive although its connection broke. Until then this process decides alone. */
  mayStillArrive = false
  acquires: PendingAcquire[] = []
  counts: Deferred<number>[] = []
  readonly #deps: KeyPermitsDeps
  readonly #maxHoldTimer: MaxHoldTimer | undefined
  /** Oldest first. */
  readonly #permits = new Set<HeldPermit>()
  #places = 0
  #left = false
  /** Number of places in the record of the server; NaN if it is unknown. */
  #acknowledged = 0
  /** Earliest time at which the acknowledged places may expire, on the process clock. Infinity if there are none. */
  #leaseEndsAt = Number.POSITIVE_INFINITY
  /** Latest time at which the record of this process on the server may expire, on the process clock. */
  #recordEndsAt = Number.NEGATIVE_INFINITY

  constructor(deps: KeyPermitsDeps, { key, name, cap, maxHoldMs }: KeyPermitsState) {
    this.#deps = deps
    this.key = key
    this.name = name
    this.cap = cap
    this.#maxHoldTimer = deps.maxHoldTimers.of(maxHoldMs)
  }

  get places(): number {
    return this.#places
  }

  /** Maximum time in ms for which a free place is left to other waiting processes. */
  get patienceMs(): number {
    return this.#deps.holdTimes.meanMs(this.cap) * PATIENCE
  }

  /** Whether any caller waits for the next call. */
  get waits(): boolean {
    return this.acquires.length > 0 || this.counts.length > 0
  }

  /** Whether the record of the server differs from the held places. */
  get hasUnreported(): boolean {
    return this.#claimed !== this.#acknowledged
  }

  get #claimed(): number {
    return this.#left ? 0 : this.#places
  }

  /** Whether no place is held, no caller waits, and the server has no record of this process. */
  idle(now: number): boolean {
    return this.#places === 0 && !this.busy && !this.waits && this.#recordEndsAt <= now
  }

  /** Reports zero places to the server from now on, even if permits are still held. */
  stopReporting(): void {
    this.#left = true
  }

  /** Returns the next report and moves all waiting callers to it. */
  request(now: number): KeyRequest {
    const { acquires, counts } = this
    this.acquires = []
    this.counts = []
    this.busy = true
    this.#recordEndsAt = now + this.#deps.deadlineMs + this.#deps.leaseMs
    const pending = acquires.filter((acquire) => acquire.waits)
    return { held: this.#claimed, lapsed: this.#leaseEndsAt <= now, acquires: pending, counts }
  }

  /** Puts callers of an earlier call that still wait in front of all others. */
  requeue(acquires: readonly PendingAcquire[], counts: readonly Deferred<number>[]): void {
    this.acquires = [...acquires.filter(({ waits }) => waits), ...this.acquires]
    this.counts = [...counts.filter(({ waits }) => waits), ...this.counts]
  }

  /** Decides an acquire in this process alone, unless it has been decided already. */
  decideLocally(acquire: PendingAcquire): Permit | Denial {
    return acquire.answer(() => (acquire.gone ? FULL : this.grantHere(acquire.weight)))
  }

  /** Decides for all waiting callers in this process alone, because no call is made. */
  answerAllHere(): void {
    const { acquires, counts } = this
    this.acquires = []
    this.counts = []
    this.answerHere(acquires, counts)
  }

  /** Records that the outcome of the last call is unknown. */
  markUnknown(): void {
    this.#acknowledged = Number.NaN
  }

  /** Records the reply to a call sent at `sentAt`: the number of places in the record of the server. */
  acknowledged(places: number, sentAt: number): void {
    const endsAt = sentAt + this.#deps.leaseMs
    this.#acknowledged = places
    this.#leaseEndsAt = places > 0 ? endsAt : Number.POSITIVE_INFINITY
    this.#recordEndsAt = places > 0 ? endsAt + this.#deps.deadlineMs : Number.NEGATIVE_INFINITY
  }

  /** Creates a permit for places that the server or `grantHere` granted. */
  grant(weight: number): Permit {
    const permit = new HeldPermit(this, this.key, weight, this.#deps.clock.now())
    this.#permits.add(permit)
    this.#places += weight
    this.#maxHoldTimer?.add(permit)
    return permit
  }

  /** Grants or denies places by the count of this process alone. */
  grantHere(weight: number): Permit | Denial {
    this.#deps.uncounted()
    if (this.#places + weight > this.cap.limit) return FULL
    const permit = this.grant(weight)
    this.#deps.changed(this)
    return permit
  }

  /** Answers callers by the count of this process alone. */
  answerHere(acquires: readonly PendingAcquire[], counts: readonly Deferred<number>[]): void {
    for (const acquire of acquires) this.decideLocally(acquire)
    for (const count of counts) count.answer(() => this.#places)
  }

  released(permit: HeldPermit): void {
    this.#deps.awake()
    if (!this.#permits.delete(permit)) return
    this.#maxHoldTimer?.delete(permit)
    this.#places -= permit.weight
    this.#deps.holdTimes.add(this.cap, this.#deps.clock.now() - permit.acquiredAt)
    this.#deps.changed(this)
  }

  /** Revokes permits, the newest first, until at most `places` are held. */
  loseDownTo(places: number): void {
    for (const permit of [...this.#permits].reverse()) {
      if (this.#places <= places) return
      permit.lose()
    }
  }

  /** Revokes all permits if their lease has expired. */
  revokeExpired(now: number): void {
    if (this.#leaseEndsAt > now) return
    this.#leaseEndsAt = Number.POSITIVE_INFINITY
    this.loseDownTo(0)
  }
}
