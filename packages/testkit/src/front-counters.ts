import { PlainCounter } from '@sluice/fleet/backend'
import type { Answer, Backend, CompiledPolicy, CountedKey, Counter, MaybePromise } from '@sluice/limiter-core/backend'

/** The counters of a backend that wraps another one, each with its counter of the wrapped backend. */
export class FrontCounters {
  readonly #behind: Backend
  readonly #counters = new WeakMap<Counter, Counter>()

  constructor(behind: Backend) {
    this.#behind = behind
  }

  /** A counter of `front`, which takes by its `takeAll`. */
  open<A extends MaybePromise<Answer>>(
    front: Pick<Backend<A>, 'takeAll'>,
    compiled: CompiledPolicy,
    name: string,
  ): Counter<A> {
    const counter = new PlainCounter(front, compiled, name)
    this.#counters.set(counter, this.#behind.open(compiled, name))
    return counter
  }

  /** The same, by the counters of the backend behind. */
  behind<T extends CountedKey>(counted: readonly T[]): T[] {
    return counted.map((one) => ({ ...one, counter: this.#counterOf(one.counter) }))
  }

  /** Counters that were opened before the backend behind was replaced are opened there, too. */
  #counterOf(counter: Counter): Counter {
    const behind = this.#counters.get(counter) ?? this.#behind.open(counter.compiled, counter.name)
    this.#counters.set(counter, behind)
    return behind
  }
}
