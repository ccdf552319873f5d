import type { Answer } from './answer.ts'
import type { CompiledPolicy } from './compiled-policy.ts'
import type { Decision } from './decision.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { Moment } from './moment.ts'

/** The decision of a backend that answers `A`: at once where it does, else a promise. */
export type DecisionOf<A extends MaybePromise<Answer>> =
  A extends Promise<unknown> ? Promise<Decision> : A extends Answer ? Decision : MaybePromise<Decision>

/** One policy, counted on one backend under a name: what `Backend.open` answers. Counters of equal names meet in one count. */
export interface Counter<A extends MaybePromise<Answer> = MaybePromise<Answer>> {
  readonly compiled: CompiledPolicy
  /** `scope/policy/algorithm@version`. */
  readonly name: string
  /** Takes `cost` units of a key, or none: whole units, 0 or more; 0 asks and takes nothing. */
  take(key: string, cost: number, moment?: Moment): DecisionOf<A>
  /** Gives back what was opened. Counts stay. */
  close?(): void
}

/** One key of one counter. */
export interface CountedKey<C extends Counter = Counter> {
  readonly key: string
  readonly counter: C
}
