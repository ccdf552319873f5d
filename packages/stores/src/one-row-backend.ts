import { RemoteBackend } from '@sluice/fleet/backend'
import type { Answer, Charge, CountedKey, Moment } from '@sluice/limiter-core/backend'
import { failureOf } from './requests/store-failure.ts'

/** Most idempotency ids that are remembered; the oldest are forgotten. */
const MOST_IDS = 10_000

/**
 * Backend of a store that writes one row at a time, so that an idempotency id cannot be stored with the count that it
 * changed. This process remembers ids instead. An adjustment that is repeated because its answer was lost is applied
 * again if it charges units, and not if it refunds units: neither admits more than the limit.
 */
export class OneRowBackend extends RemoteBackend {
  readonly maxCounts = 1
  /** Whether the adjustment with an id is known to be applied. */
  readonly #applied = new Map<string, boolean>()

  override async adjustAll(charges: readonly Charge[], takenAt: number, moment: Moment = {}): Promise<Answer> {
    const { idempotencyKey, ...others } = moment
    if (!idempotencyKey) return super.adjustAll(charges, takenAt, moment)
    const { id } = idempotencyKey
    const isApplied = this.#applied.get(id)
    const isLeft = ({ cost }: Charge): boolean => isApplied === undefined || (!isApplied && cost > 0)
    this.#applied.set(id, isApplied === true)
    for (const [oldest] of this.#applied) if (this.#applied.size > MOST_IDS) this.#applied.delete(oldest)
    try {
      const left = charges.map((charge) => (isLeft(charge) ? charge : { ...charge, cost: 0 }))
      const answer = await super.adjustAll(left, takenAt, others)
      this.#applied.set(id, true)
      return answer
    } catch (error) {
      if (isApplied === undefined && !failureOf(error, true).mayHaveCounted) this.#applied.delete(id)
      throw error
    }
  }

  /** Resets one key after the other, because each is a row. */
  override async resetAll(counted: readonly CountedKey[]): Promise<void> {
    for (const one of counted) await super.resetAll([one])
  }
}
