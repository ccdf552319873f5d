import { allOf, andThen } from '../contracts/maybe-promise.ts'
import type { Answer, Backend, Charge, CountedKey, Counter, MaybePromise, Moment } from '../contracts.ts'
import { type ChargePart, mergedAnswer, takeParts } from './charge-parts.ts'

interface Part extends ChargePart {
  readonly backend: RequestBackend
}

/** The methods of a backend that a limiter calls for each request. */
export type RequestBackend = Pick<Backend, 'synchronous' | 'takeAll' | 'peekAll' | 'adjustAll' | 'resetAll'>

/**
 * Combines the backends of one limiter. For a take they are called one after another, synchronous ones first; if a
 * backend denies, earlier backends are refunded, see `takeParts`.
 */
export class GroupedBackend implements RequestBackend {
  readonly #backendOf: ReadonlyMap<Counter, RequestBackend>
  readonly #backends: readonly RequestBackend[]

  /** `backendOf` maps each counter to the backend that opened it. */
  constructor(backendOf: ReadonlyMap<Counter, RequestBackend>) {
    this.#backendOf = backendOf
    const backends = [...new Set(backendOf.values())]
    this.#backends = [...backends.filter((one) => one.synchronous), ...backends.filter((one) => !one.synchronous)]
  }

  takeAll(charges: readonly Charge[], moment?: Moment): MaybePromise<Answer> {
    return takeParts(this.#parts(charges), moment)
  }

  peekAll(charges: readonly Charge[], moment?: Moment): MaybePromise<Answer> {
    const parts = this.#parts(charges)
    const answers = allOf(parts.map((part) => part.backend.peekAll(part.charges, moment)))
    return andThen(answers, (all) => mergedAnswer(parts, all))
  }

  adjustAll(charges: readonly Charge[], takenAt: number, moment?: Moment): MaybePromise<Answer> {
    const parts = this.#parts(charges)
    const answers = allOf(parts.map((part) => part.backend.adjustAll(part.charges, takenAt, moment)))
    return andThen(answers, (all) => mergedAnswer(parts, all))
  }

  resetAll(keys: readonly CountedKey[]): MaybePromise<void> {
    const resets = this.#backends.map((backend) =>
      backend.resetAll(keys.filter(({ counter }) => this.#backendOf.get(counter) === backend)),
    )
    return andThen(allOf(resets), () => undefined)
  }

  #parts(charges: readonly Charge[]): Part[] {
    return this.#backends
      .map((backend) => {
        const indexes = charges.flatMap((charge, index) =>
          this.#backendOf.get(charge.counter) === backend ? [index] : [],
        )
        return { backend, indexes, charges: indexes.map((index) => charges[index]) }
      })
      .filter((part) => part.indexes.length > 0)
  }
}
