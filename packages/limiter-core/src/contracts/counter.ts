import type { Answer } from './decisions/answer.ts'
import type { CompiledPolicy } from './decisions/compiled-policy.ts'
import type { Decision } from './decisions/decision.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { Moment } from './moment.ts'

/** Return type of a take on a backend that returns `A`: a decision, a promise of it, or either. */
export type DecisionOf<A extends MaybePromise<Answer>> =
  A extends Promise<unknown> ? Promise<Decision> : A extends Answer ? Decision : MaybePromise<Decision>

/** A policy that is counted on a backend under a name, see `Backend.open`. Counters with equal names share a count. */
export interface Counter<A extends MaybePromise<Answer> = MaybePromise<Answer>> {
  readonly compiled: CompiledPolicy
  /** Name of the count: `scope/policy/algorithm@version`. */
  readonly name: string
  /** Takes `cost` units of a key if all of them fit. `cost` is an integer of 0 or more; 0 reads without taking. */
  take(key: string, cost: number, moment?: Moment): DecisionOf<A>
  /** Like `take`, for a policy in shadow mode, which never denies. Undefined if only `takeAll` of the backend can. */
  takeAdvisory?(key: string, cost: number, moment?: Moment): DecisionOf<A>
  /** Releases the resources of the counter. Counts are kept. */
  close?(): void
}

/** A key and the counter that counts it. */
export interface CountedKey<C extends Counter = Counter> {
  readonly key: string
  readonly counter: C
}
