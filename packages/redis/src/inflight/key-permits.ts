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

/** Of the time for which a place is held: a place that lies free for others for longer costs more than it evens out. */
const PATIENCE = 1 / 4

/** What all keys of a process share. */
export interface KeyPermitsDeps {
  readonly clock: Clock
  readonly leaseMs: number
  readonly deadlineMs: number
  readonly holdTimes: HoldTimes
  /** What takes permits back that are held too long. */
  readonly maxHoldTimers: MaxHoldTimers
  /** The server does not know yet what this holding is now. */
  readonly changed: (holding: KeyPermits) => void
  /** Places were given or refused by what this process alone holds. */
  readonly uncounted: () => void
  /** About to look at leases: time may have passed in which this process did nothing. */
  readonly awake: () => void
}

export interface KeyPermitsState {
  readonly key: string
  /** Under which the server keeps it. */
  readonly name: string
  readonly cap: Cap
  readonly maxHoldMs: number | undefined
}

/** What this process says to the server of one key, and who waits for the answer. */
export interface KeyRequest {
  /** Places that this process holds. */
  readonly held: number
  /** True where the lease of those that the server acknowledged may have run out: others may have them. */
  readonly lapsed: boolean
  readonly wishes: readonly PendingAcquire[]
  readonly counts: readonly Deferred<number>[]
}

/** What this process holds of one key under one cap, what of it the server has acknowledged, and who waits for more. */
export class KeyPermits implements PermitHome {
  readonly key: string
  /** Under which the server keeps it. */
  readonly name: string
  readonly cap: Cap
  /** A call about this key is under way, or may still arrive: nothing else is said of it until then. */
  busy = false
  /** Nobody knows what became of the last call: who asks meanwhile is answered here. */
  doubtful = false
  wishes: PendingAcquire[] = []
  counts: Deferred<number>[] = []
  readonly #means: KeyPermitsDeps
  readonly #bound: MaxHoldTimer | undefined
  // the oldest first
  readonly #permits = new Set<HeldPermit>()
  #places = 0
  #left = false
  /** Places that the server last said it keeps for this process. */
  #acknowledged = 0
  /** Until when it keeps them at least; never where it keeps none. By the process clock. */
  #lapsesAt = Number.POSITIVE_INFINITY
  /** Until when it may keep something of this process, as it was told or may have been told. */
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

  /** For how long a free place may be left to other processes that wait. */
  get patienceMs(): number {
    return this.#means.holdTimes.meanMs(this.cap) * PATIENCE
  }

  /** Whether somebody waits for the next call. */
  get waits(): boolean {
    return this.wishes.length > 0 || this.counts.length > 0
  }

  /** Whether the server keeps other places than it should. */
  get unsaid(): boolean {
    return this.#claimed !== this.#acknowledged
  }

  get #claimed(): number {
    return this.#left ? 0 : this.#places
  }

  /** True where nothing is held and nothing is to be said. */
  idle(now: number): boolean {
    return this.#places === 0 && !this.busy && !this.waits && this.#standsUntil <= now
  }

  /** From now on this process claims nothing of the server, whatever it still holds. */
  leave(): void {
    this.#left = true
  }

  /** What to say to the server now. Whoever waits waits for that call from now on. */
  request(now: number): KeyRequest {
    const { wishes, counts } = this
    this.wishes = []
    this.counts = []
    this.busy = true
    this.#standsUntil = now + this.#means.deadlineMs + this.#means.leaseMs
    const pending = wishes.filter((wish) => wish.waits)
    return { held: this.#claimed, lapsed: this.#lapsesAt <= now, wishes: pending, counts }
  }

  /** Puts those who still wait before all others. */
  await(wishes: readonly PendingAcquire[], counts: readonly Deferred<number>[]): void {
    this.wishes = [...wishes.filter(({ waits }) => waits), ...this.wishes]
    this.counts = [...counts.filter(({ waits }) => waits), ...this.counts]
  }

  answerWishHere(wish: PendingAcquire): Permit | Denial {
    return wish.answer(() => (wish.gone ? FULL : this.grantHere(wish.weight)))
  }

  /** Nobody calls: answers all who wait by what this process alone holds. */
  answerAllHere(): void {
    const { wishes, counts } = this
    this.wishes = []
    this.counts = []
    this.answerHere(wishes, counts)
  }

  /** Nobody knows whether the last call reached the server. */
  unanswered(): void {
    this.#acknowledged = Number.NaN
  }

  /** In a call of `sentAt` the server said how many places it keeps, after it took this process's word on all others. */
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

  /** Gives places by what this process alone holds. */
  grantHere(weight: number): Permit | Denial {
    this.#means.uncounted()
    if (this.#places + weight > this.cap.limit) return FULL
    const permit = this.grant(weight)
    this.#means.changed(this)
    return permit
  }

  /** Answers by what this process alone holds. */
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

  /** Takes all permits away if the lease that they stand on has run out. */
  loseLapsed(now: number): void {
    if (this.#lapsesAt > now) return
    this.#lapsesAt = Number.POSITIVE_INFINITY
    this.loseDownTo(0)
  }
}
