import type { Answer, CompiledPolicy, Counter, Decision, Moment } from '@sluice/limiter-core/backend'

/** The part of `ExactBackend` that a counter uses. */
interface TakeOne {
  takeOne(counter: ExactCounter, key: string, cost: number, moment?: Moment): Promise<Decision>
}

/** Counter of one policy in Redis. */
export class ExactCounter implements Counter<Promise<Answer>> {
  readonly compiled: CompiledPolicy
  readonly name: string
  readonly #backend: TakeOne

  constructor(backend: TakeOne, compiled: CompiledPolicy, name: string) {
    this.compiled = compiled
    this.name = name
    this.#backend = backend
  }

  take(key: string, cost: number, moment?: Moment): Promise<Decision> {
    return this.#backend.takeOne(this, key, cost, moment)
  }
}
