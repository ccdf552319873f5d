import { IDEMPOTENT_MS } from '../backend/idempotency-key.ts'
import { targetId } from '../backend/target-id.ts'
import type { CountedKey, IdempotencyKey } from '../contracts.ts'
import type { FailoverCharge } from './failover-counter.ts'

/** Units that were given back, or charged late, to a take that a backend counted. */
export interface OwedAdjustment {
  readonly charge: FailoverCharge
  /** By the clock of the backend. */
  readonly takenAt: number
  /** Under which it may have been made, so that it must not be made under another one. */
  readonly idempotencyKey?: IdempotencyKey | undefined
  /** How often it was tried in vain. */
  readonly attempts: number
  /** Units by which it moved the key here. */
  readonly moved: number
}

/** Resets that are kept at most; older ones are forgotten. */
const MOST_RESETS = 1_000
/** Adjustments that are kept at most, some two megabytes; older ones are forgotten. */
const MOST_ADJUSTMENTS = 10_000
/** A key at fault is not tried for ever. */
const MOST_ATTEMPTS = 100

/**
 * Resets and adjustments that a backend did not do, since it did not answer: they are done, once, when it does. A reset
 * makes up for all that was owed of its key before, so that resets come first and every key still has its order.
 */
export class OwedCalls {
  /** Of these calls, how many are being made. */
  underWay = 0
  /** Until then none of them is tried again. */
  pausedUntil: number = Number.NEGATIVE_INFINITY
  readonly #resets = new Map<string, CountedKey>()
  readonly #adjustments = new Set<OwedAdjustment>()
  readonly #ofKeys = new Map<string, { units: number; size: number }>()

  get any(): boolean {
    return this.#resets.size > 0 || this.#adjustments.size > 0
  }

  /** Of keys by the counters of the backend itself. */
  addResets(targets: readonly CountedKey[]): void {
    for (const target of targets) {
      const id = targetId(target)
      this.#resets.delete(id)
      this.#resets.set(id, target)
    }
    this.forgetAdjustments(targets)
    for (const id of this.#resets.keys()) if (this.#resets.size > MOST_RESETS) this.#resets.delete(id)
  }

  /** Of keys that are reset nothing is owed any more. */
  forgetAdjustments(targets: readonly CountedKey[]): void {
    if (this.#ofKeys.size === 0) return
    const ids = new Set(targets.map(targetId).filter((id) => this.#ofKeys.has(id)))
    if (ids.size === 0) return
    for (const one of this.#adjustments) if (ids.has(targetId(one.charge))) this.#remove(one)
  }

  addAdjustment(adjustment: OwedAdjustment): void {
    if (adjustment.attempts > MOST_ATTEMPTS) return
    this.#adjustments.add(adjustment)
    this.#count(adjustment, 1)
    for (const oldest of this.#adjustments) {
      if (this.#adjustments.size <= MOST_ADJUSTMENTS) break
      this.#remove(oldest)
    }
  }

  /** By so many units what is known here of a key is ahead of the backend. */
  unitsOf(target: CountedKey): number {
    return this.#ofKeys.size === 0 ? 0 : (this.#ofKeys.get(targetId(target))?.units ?? 0)
  }

  /** The resets, which the caller now tries again. */
  takeResets(): readonly CountedKey[] {
    const targets = [...this.#resets.values()]
    this.#resets.clear()
    return targets
  }

  /** The oldest adjustments, which the caller now tries again. One that may have been made is refused when its key is old. */
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
