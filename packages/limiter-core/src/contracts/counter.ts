import type { Answer } from './answer.ts'
import type { CompiledPolicy } from './compiled-policy.ts'
import type { Decision } from './decision.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { Moment } from './moment.ts'

/** The decision of a backend that returns `A`: synchronous if the backend is, otherwise a promise. */
export type DecisionOf<A extends MaybePromise<Answer>> =
  A extends Promise<unknown> ? Promise<Decision> : A extends Answer ? Decision : MaybePromise<Decision>

/**
 * A policy that is counted on a backend under a name, as returned by `Backend.open`. Counters with equal names share
 * a count.
 */
export interface Counter<A extends MaybePromise<Answer> = MaybePromise<Answer>> {
  readonly compiled: CompiledPolicy
  /** `scope/policy/algorithm@version`. */
  readonly name: string
  /** Takes `cost` units of a key, or none. `cost` is an integer of 0 or more; 0 reads without taking. */
  take(key: string, cost: number, moment?: Moment): DecisionOf<A>
  /** Releases what was opened. Counts are kept. */
  close?(): void
}

/** A key of a counter. */
export interface CountedKey<C extends Counter = Counter> {
  readonly key: string
  readonly counter: C
}
