import { type Charge, IDEMPOTENT_MS, targetId } from '@sluice/limiter-core/backend'
import { repetitions } from '../backend/repetitions.ts'

/** Maximum number of adjustments that are remembered. The oldest are dropped first. */
const MAX_ADJUSTMENTS = 100_000

/** Adjustments that the primary has applied, so that an adjustment that a worker repeats counts once. */
export class AppliedAdjustments {
  /** The end of the time in which each adjustment may be repeated, the oldest first. */
  readonly #endsAt = new Map<string, number>()

  /**
   * Calls `apply` with the charges of the idempotency id `id`, and returns its result. Charges that have been applied
   * are passed without units, holds and prior usage.
   */
  once<T>(charges: readonly Charge[], id: string, now: number, apply: (due: readonly Charge[]) => T): T {
    this.#dropEnded(now)
    const targets = charges.map(targetId)
    const before = repetitions(targets)
    const names = targets.map((target, index) => `${id}:${before[index]} ${target}`)
    const isApplied = names.map((name) => this.#endsAt.has(name))
    const nothing = { cost: 0, hold: undefined, known: undefined }
    const applied = apply(charges.map((charge, index) => (isApplied[index] ? { ...charge, ...nothing } : charge)))
    for (const [index, name] of names.entries()) if (!isApplied[index]) this.#endsAt.set(name, now + IDEMPOTENT_MS)
    return applied
  }

  #dropEnded(now: number): void {
    for (const [name, endsAt] of this.#endsAt) {
      if (endsAt >= now && this.#endsAt.size < MAX_ADJUSTMENTS) return
      this.#endsAt.delete(name)
    }
  }
}
