import { IDEMPOTENT_MS } from '../backend/idempotency-key.ts'
import { targetId } from '../backend/stored-name.ts'
import type { CountedKey, IdempotencyKey } from '../contracts.ts'
import type { FailoverCharge } from './failover-counter.ts'

/** A refund or late charge to a take that a backend counted. */
export interface OwedAdjustment {
  readonly charge: FailoverCharge
  /** Clock reading of the backend. */
  readonly takenAt: number
  /** Key of an attempt that may have been applied; later attempts must use the same key. */
  readonly idempotencyKey?: IdempotencyKey | undefined
  readonly attempts: number
  /** Units by which it changed the key in the mirror. */
  readonly moved: number
}

/** Largest number of pending resets; the oldest are dropped. */
const MAX_RESETS = 1_000
/** Largest number of pending adjustments, about two megabytes; the oldest are dropped. */
const MAX_ADJUSTMENTS = 10_000
/** Attempts after which an adjustment is dropped, so that a faulty key is not retried forever. */
const MAX_ATTEMPTS = 100

/**
 * Resets and adjustments that a backend has not applied because it did not answer. They are applied once, after it has
 * recovered. A reset replaces all earlier adjustments of its key, and resets are sent first, so that the order per key
 * is kept.
 */
export class OwedCalls {
  inProgress = 0
  pausedUntil: number = Number.NEGATIVE_INFINITY
  readonly #resets = new Map<string, CountedKey>()
  readonly #adjustments = new Set<OwedAdjustment>()
  readonly #ofKeys = new Map<string, { units: number; size: number }>()

  get any(): boolean {
    return this.#resets.size > 0 || this.#adjustments.size > 0
  }

  /** Adds resets of keys, given with the counters of the remote backend. */
  addResets(targets: readonly CountedKey[]): void {
    for (const target of targets) {
      const id = targetId(target)
      this.#resets.delete(id)
      this.#resets.set(id, target)
    }
    this.forgetAdjustments(targets)
    for (const id of this.#resets.keys()) if (this.#resets.size > MAX_RESETS) this.#resets.delete(id)
  }

  /** Drops the adjustments of keys that are being reset. */
  forgetAdjustments(targets: readonly CountedKey[]): void {
    if (this.#ofKeys.size === 0) return
    const ids = new Set(targets.map(targetId).filter((id) => this.#ofKeys.has(id)))
    if (ids.size === 0) return
    for (const one of this.#adjustments) if (ids.has(targetId(one.charge))) this.#remove(one)
  }

  addAdjustment(adjustment: OwedAdjustment): void {
    if (adjustment.attempts > MAX_ATTEMPTS) return
    this.#adjustments.add(adjustment)
    this.#count(adjustment, 1)
    for (const oldest of this.#adjustments) {
      if (this.#adjustments.size <= MAX_ADJUSTMENTS) break
      this.#remove(oldest)
    }
  }

  /** Returns the units by which the local state of a key is ahead of the backend. */
  unitsOf(target: CountedKey): number {
    return this.#ofKeys.size === 0 ? 0 : (this.#ofKeys.get(targetId(target))?.units ?? 0)
  }

  /** Removes and returns all resets, for another attempt. */
  takeResets(): readonly CountedKey[] {
    const targets = [...this.#resets.values()]
    this.#resets.clear()
    return targets
  }

  /**
   * Removes and returns up to `most` adjustments, the oldest first, for another attempt. Drops adjustments that may
   * have been applied and whose idempotency key has expired.
   */
  takeAdjustments(most: number, now: number): readonly OwedAdjustment[] {
    const taken: OwedAdjustment[] = []
    for (const one of this.#adjustments) {
      if (taken.length === most) break
      this.#remove(one)
      if (one.idempotencyKey === undefined || now - one.idempotencyKey.issuedAt < IDEMPOTENT_MS) taken.push(one)
    }
    return taken
  }

  #remove(adjustment: OwedAdjustment): void {
    if (this.#adjustments.delete(adjustment)) this.#count(adjustment, -1)
  }

  #count({ charge, moved }: OwedAdjustment, times: 1 | -1): void {
    const id = targetId(charge)
    const ofKey = this.#ofKeys.get(id) ?? { units: 0, size: 0 }
    ofKey.units += times * moved
    ofKey.size += times
    if (ofKey.size === 0) this.#ofKeys.delete(id)
    else this.#ofKeys.set(id, ofKey)
  }
}
