import {
  type Cap,
  type Clock,
  type Denial,
  FULL,
  HeldPermit,
  type MaxHoldTimer,
  type MaxHoldTimers,
  type Permit,
  type PermitHome,
} from '@sluice/limiter-core/backend'
import type { Deferred } from './deferred.ts'
import type { HoldTimes } from './hold-times.ts'
import type { PendingAcquire } from './pending-acquire.ts'

/** Fraction of the hold time: leaving a place free for other processes for longer costs more than it equalises. */
const PATIENCE = 1 / 4

/** Shared by all keys of a process. */
export interface KeyPermitsDeps {
  readonly clock: Clock
  readonly leaseMs: number
  readonly deadlineMs: number
  readonly holdTimes: HoldTimes
  /** Revokes permits that are held too long. */
  readonly maxHoldTimers: MaxHoldTimers
  /** The holding differs from what the server knows. */
  readonly changed: (holding: KeyPermits) => void
  /** Places were granted or denied by this process alone. */
  readonly uncounted: () => void
  /** Called before leases are read: the process may have been suspended. */
  readonly awake: () => void
}

export interface KeyPermitsState {
  readonly key: string
  /** Name of the holding on the server. */
  readonly name: string
  readonly cap: Cap
  readonly maxHoldMs: number | undefined
}

/** The report of this process about one key, and the callers that wait for the reply. */
export interface KeyRequest {
  /** Places that this process holds. */
  readonly held: number
  /** Whether the lease of the acknowledged places may have expired, so that other processes may have them. */
  readonly lapsed: boolean
  readonly wishes: readonly PendingAcquire[]
  readonly counts: readonly Deferred<number>[]
}

/**
 * What this process holds of one key under one cap, how much of it the server has acknowledged, and which callers
 * wait.
 */
export class KeyPermits implements PermitHome {
  readonly key: string
  /** Name of the holding on the server. */
  readonly name: string
  readonly cap: Cap
  /** Whether a call about this key is pending or may still arrive: nothing else is reported until then. */
  busy = false
  /** Whether the outcome of the last call is unknown: callers are answered locally meanwhile. */
  doubtful = false
  wishes: PendingAcquire[] = []
  counts: Deferred<number>[] = []
  readonly #means: KeyPermitsDeps
  readonly #bound: MaxHoldTimer | undefined
  // the oldest first
  readonly #permits = new Set<HeldPermit>()
  #places = 0
  #left = false
  /** Places that the server last confirmed for this process. */
  #acknowledged = 0
  /** When the confirmed places expire at the earliest, in process time; never if there are none. */
  #lapsesAt = Number.POSITIVE_INFINITY
  /** When everything that the server may store for this process expires. */
  #standsUntil = Number.NEGATIVE_INFINITY

  constructor(means: KeyPermitsDeps, { key, name, cap, maxHoldMs }: KeyPermitsState) {
    this.#means = means
    this.key = key
    this.name = name
    this.cap = cap
    this.#bound = means.maxHoldTimers.of(maxHoldMs)
  }

  get places(): number {
    return this.#places
  }

  /** How long a free place may be left to other waiting processes. */
  get patienceMs(): number {
    return this.#means.holdTimes.meanMs(this.cap) * PATIENCE
  }

  /** Whether a caller waits for the next call. */
  get waits(): boolean {
    return this.wishes.length > 0 || this.counts.length > 0
  }

  /** Whether the server's record differs from what is held. */
  get unsaid(): boolean {
    return this.#claimed !== this.#acknowledged
  }

  get #claimed(): number {
    return this.#left ? 0 : this.#places
  }

  /** Whether nothing is held and nothing has to be reported. */
  idle(now: number): boolean {
    return this.#places === 0 && !this.busy && !this.waits && this.#standsUntil <= now
  }

  /** Reports no places from now on, whatever is still held. */
  leave(): void {
    this.#left = true
  }

  /** Returns the next report. Waiting callers wait for that call from now on. */
  request(now: number): KeyRequest {
    const { wishes, counts } = this
    this.wishes = []
    this.counts = []
    this.busy = true
    this.#standsUntil = now + this.#means.deadlineMs + this.#means.leaseMs
    const pending = wishes.filter((wish) => wish.waits)
    return { held: this.#claimed, lapsed: this.#lapsesAt <= now, wishes: pending, counts }
  }

  /** Puts the remaining callers in front of all others. */
  await(wishes: readonly PendingAcquire[], counts: readonly Deferred<number>[]): void {
    this.wishes = [...wishes.filter(({ waits }) => waits), ...this.wishes]
    this.counts = [...counts.filter(({ waits }) => waits), ...this.counts]
  }

  answerWishHere(wish: PendingAcquire): Permit | Denial {
    return wish.answer(() => (wish.gone ? FULL : this.grantHere(wish.weight)))
  }

  /** There is no call: answers all waiting callers by the places of this process alone. */
  answerAllHere(): void {
    const { wishes, counts } = this
    this.wishes = []
    this.counts = []
    this.answerHere(wishes, counts)
  }

  /** Records that the last call may or may not have reached the server. */
  unanswered(): void {
    this.#acknowledged = Number.NaN
  }

  /** The server confirmed, in a call sent at `sentAt`, how many places it keeps after applying the report. */
  acknowledged(places: number, sentAt: number): void {
    const endsAt = sentAt + this.#means.leaseMs
    this.#acknowledged = places
    this.#lapsesAt = places > 0 ? endsAt : Number.POSITIVE_INFINITY
    this.#standsUntil = places > 0 ? endsAt + this.#means.deadlineMs : Number.NEGATIVE_INFINITY
  }

  /** Gives places that the server granted. */
  grant(weight: number): Permit {
    const permit = new HeldPermit(this, this.key, weight, this.#means.clock.now())
    this.#permits.add(permit)
    this.#places += weight
    this.#bound?.add(permit)
    return permit
  }

  /** Grants places by this process alone. */
  grantHere(weight: number): Permit | Denial {
    this.#means.uncounted()
    if (this.#places + weight > this.cap.limit) return FULL
    const permit = this.grant(weight)
    this.#means.changed(this)
    return permit
  }

  /** Answers callers by the places of this process alone. */
  answerHere(wishes: readonly PendingAcquire[], counts: readonly Deferred<number>[]): void {
    for (const wish of wishes) this.answerWishHere(wish)
    for (const count of counts) count.answer(() => this.#places)
  }

  released(permit: HeldPermit): void {
    this.#means.awake()
    if (!this.#permits.delete(permit)) return
    this.#bound?.delete(permit)
    this.#places -= permit.weight
    this.#means.holdTimes.add(this.cap, this.#means.clock.now() - permit.acquiredAt)
    this.#means.changed(this)
  }

  /** Takes permits away until no more than `places` are held, the newest first. */
  loseDownTo(places: number): void {
    for (const permit of [...this.#permits].reverse()) {
      if (this.#places <= places) return
      permit.lose()
    }
  }

  /** Revokes all permits if their lease has expired. */
  loseLapsed(now: number): void {
    if (this.#lapsesAt > now) return
    this.#lapsesAt = Number.POSITIVE_INFINITY
    this.loseDownTo(0)
  }
}
