import {
  type Answer,
  andThen,
  type Backend,
  type CompiledPolicy,
  type Counter,
  checkedAnswer,
  type DecisionOf,
  type MaybePromise,
  type Moment,
  RequestDecision,
} from '@sluice/limiter-core/backend'

/** A counter that takes its charge by the `takeAll` method of its backend. Throws if the answer is invalid. */
export class PlainCounter<A extends MaybePromise<Answer>> implements Counter<A> {
  readonly compiled: CompiledPolicy
  readonly name: string
  readonly #backend: Pick<Backend<A>, 'takeAll'>

  constructor(backend: Pick<Backend<A>, 'takeAll'>, compiled: CompiledPolicy, name: string) {
    this.compiled = compiled
    this.name = name
    this.#backend = backend
  }

  take(key: string, cost: number, moment?: Moment): DecisionOf<A> {
    const charges = [{ key, counter: this, cost }]
    const answer: MaybePromise<Answer> = this.#backend.takeAll(charges, moment)
    const decision: unknown = andThen(answer, (one) => new RequestDecision(checkedAnswer(one, charges)))
    // `andThen` returns a promise exactly if the answer is one, which its type does not express
    return decision as DecisionOf<A>
  }
}
