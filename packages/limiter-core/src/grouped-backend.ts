import { type ChargePart, mergedAnswer, takeTogether } from './charge-parts.ts'
import type { Answer, Backend, Charge, MaybePromise, Moment, Step } from './contracts.ts'
import { allOf, andThen } from './maybe-promise.ts'

/** The charges of one request that one backend counts. */
interface Part extends ChargePart {
  readonly backend: Backend
}

/**
 * Several backends as one. They are asked one after the other, synchronous ones first, and a later denial takes the
 * earlier parts back, as `takeTogether` says.
 */
export class GroupedBackend implements Backend {
  readonly name = 'grouped'
  readonly #homes: ReadonlyMap<Step, Backend>
  readonly #backends: readonly Backend[]

  constructor(homes: ReadonlyMap<Step, Backend>) {
    this.#homes = homes
    const backends = [...new Set(homes.values())]
    this.#backends = [...backends.filter((one) => one.synchronous), ...backends.filter((one) => !one.synchronous)]
  }

  take(charges: readonly Charge[], moment?: Moment): MaybePromise<Answer> {
    return takeTogether(this.#parts(charges), moment)
  }

  peek(charges: readonly Charge[], moment?: Moment): MaybePromise<Answer> {
    const parts = this.#parts(charges)
    const answers = allOf(parts.map((part) => part.backend.peek(part.charges, moment)))
    return andThen(answers, (all) => mergedAnswer(parts, all))
  }

  adjust(charges: readonly Charge[], takenAt: number, moment?: Moment): MaybePromise<Answer> {
    const parts = this.#parts(charges)
    const answers = allOf(parts.map((part) => part.backend.adjust(part.charges, takenAt, moment)))
    return andThen(answers, (all) => mergedAnswer(parts, all))
  }

  reset(targets: readonly Pick<Charge, 'key' | 'step' | 'count'>[]): MaybePromise<void> {
    const resets = this.#backends.map((backend) =>
      backend.reset(targets.filter((target) => this.#homes.get(target.step) === backend)),
    )
    return andThen(allOf(resets), () => undefined)
  }

  #parts(charges: readonly Charge[]): Part[] {
    return this.#backends
      .map((backend) => {
        const indexes = charges.flatMap((charge, index) => (this.#homes.get(charge.step) === backend ? [index] : []))
        return { backend, indexes, charges: indexes.map((index) => charges[index]) }
      })
      .filter((part) => part.indexes.length > 0)
  }
}
