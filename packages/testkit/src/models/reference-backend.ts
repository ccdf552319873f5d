import type { Charge, CountedKey, PolicyVerdict, Verdict } from '@sluice/limiter-core'
import { type ReferenceModel, referenceModel } from './reference-model.ts'

/** A backend as the contracts of core describe it, over reference models: one for each count and key, never dropped. */
export class ReferenceBackend {
  readonly #models = new Map<string, ReferenceModel>()

  /** Takes all enforced charges or none; advisory ones if every charge fits. */
  take(charges: readonly Charge[], now: number): PolicyVerdict[] {
    const asked = this.peek(charges, now)
    if (asked.some((verdict) => !verdict.allowed && !verdict.shadow)) return asked
    const allFit = asked.every((verdict) => verdict.allowed)
    return charges.map((charge, index) =>
      charge.advisory && !allFit ? asked[index] : named(charge, this.#model(charge).take(now, charge.cost)),
    )
  }

  /** Returns what `take` would return for each charge alone. */
  peek(charges: readonly Charge[], now: number): PolicyVerdict[] {
    return charges.map((charge) => named(charge, this.#model(charge).peek(now, charge.cost)))
  }

  /** Charges and refunds units taken at `takenAt`. */
  adjust(charges: readonly Charge[], takenAt: number, now: number): PolicyVerdict[] {
    return charges.map((charge) => {
      this.#model(charge).adjust(now, charge.cost, takenAt)
      return named(charge, this.#model(charge).peek(now, 0))
    })
  }

  /** Makes keys as good as new. */
  reset(charges: readonly CountedKey[]): void {
    for (const charge of charges) this.#models.delete(nameOf(charge))
  }

  #model(charge: Charge): ReferenceModel {
    const model = this.#models.get(nameOf(charge)) ?? referenceModel(charge.counter.compiled.policy)
    this.#models.set(nameOf(charge), model)
    return model
  }
}

function nameOf({ key, counter }: CountedKey): string {
  return JSON.stringify([counter.name, key])
}

function named({ counter, advisory }: Charge, verdict: Verdict): PolicyVerdict {
  return { policy: counter.compiled.policy, shadow: advisory === true, ...verdict }
}
