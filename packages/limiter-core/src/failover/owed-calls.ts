import type { Charge } from '../contracts.ts'

type Target = Pick<Charge, 'key' | 'step' | 'count'>

/** Units that were given back, or charged late, to a take that a backend counted. */
export interface OwedAdjustment {
  readonly charge: Charge
  /** By the clock of the backend. */
  readonly takenAt: number
}

/** Resets that are kept at most; older ones are forgotten. */
const MOST_RESETS = 1_000
/** Adjustments that are kept at most, some two megabytes; older ones are forgotten. */
const MOST_ADJUSTMENTS = 10_000

/**
 * Resets and adjustments that a backend did not do, since it did not answer: they are done, once, when it does. A reset
 * makes up for all that was owed of its key before, so that resets come first and every key still has its order.
 */
export class OwedCalls {
  /** Of these calls, how many are being made. */
  underWay = 0
  readonly #resets = new Map<string, Target>()
  readonly #adjustments = new Set<OwedAdjustment>()
  readonly #ofKeys = new Map<string, { units: number; size: number }>()

  get any(): boolean {
    return this.#resets.size > 0 || this.#adjustments.size > 0
  }

  addResets(targets: readonly Target[]): void {
    for (const target of targets) {
      const id = idOf(target)
      this.#resets.delete(id)
      this.#resets.set(id, target)
      if (!this.#ofKeys.has(id)) continue
      for (const one of this.#adjustments) if (idOf(one.charge) === id) this.#remove(one)
    }
    for (const id of this.#resets.keys()) if (this.#resets.size > MOST_RESETS) this.#resets.delete(id)
  }

  addAdjustment(adjustment: OwedAdjustment): void {
    this.#adjustments.add(adjustment)
    this.#count(adjustment, 1)
    for (const oldest of this.#adjustments) {
      if (this.#adjustments.size <= MOST_ADJUSTMENTS) break
      this.#remove(oldest)
    }
  }

  /** The sum of the adjustments of a key: by so much what is known here of it is ahead of the backend. */
  unitsOf(target: Target): number {
    return this.#ofKeys.size === 0 ? 0 : (this.#ofKeys.get(idOf(target))?.units ?? 0)
  }

  /** The resets, which the caller now tries again. */
  takeResets(): readonly Target[] {
    const targets = [...this.#resets.values()]
    this.#resets.clear()
    return targets
  }

  /** The oldest adjustments, which the caller now tries again. */
  takeAdjustments(most: number): readonly OwedAdjustment[] {
    const taken: OwedAdjustment[] = []
    for (const one of this.#adjustments) {
      if (taken.push(one) === most) break
    }
    for (const one of taken) this.#remove(one)
    return taken
  }

  #remove(adjustment: OwedAdjustment): void {
    if (this.#adjustments.delete(adjustment)) this.#count(adjustment, -1)
  }

  #count({ charge }: OwedAdjustment, times: 1 | -1): void {
    const id = idOf(charge)
    const ofKey = this.#ofKeys.get(id) ?? { units: 0, size: 0 }
    ofKey.units += times * charge.cost
    ofKey.size += times
    if (ofKey.size === 0) this.#ofKeys.delete(id)
    else this.#ofKeys.set(id, ofKey)
  }
}

function idOf({ key, count }: Target): string {
  return JSON.stringify([count, key])
}
