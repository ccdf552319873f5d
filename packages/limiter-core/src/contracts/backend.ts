import type { Answer } from './answer.ts'
import type { Charge } from './charge.ts'
import type { CompiledPolicy } from './compiled-policy.ts'
import type { CountedKey, Counter } from './counter.ts'
import type { HeldUnits } from './held-units.ts'
import type { Interruption } from './interruption.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { Moment } from './moment.ts'
import type { Observer } from './observer.ts'
import type { AlgorithmName } from './policy.ts'

/** Where counts live. */
export interface Backend<A extends MaybePromise<Answer> = MaybePromise<Answer>> {
  readonly name: string
  /** Equal for backends of this process that count in one place: equal names on them are one count. */
  readonly identity?: object | undefined
  /** True for one that always answers at once; of several it is asked before those that do not. Failover stands before it all the same. */
  readonly synchronous?: boolean
  /** True for one that counts for its own process: N processes admit up to N limits. */
  readonly perProcess?: boolean
  /** Those that it can keep; default: all. A policy that names none gets one of them; `open` refuses the others. */
  readonly algorithms?: readonly AlgorithmName[] | undefined
  /** True for one whose windows follow `policy.calendar`; limiters refuse to open such a policy on any other one. */
  readonly keepsCalendars?: boolean | undefined
  /**
   * A counter of a policy under a name: asked once for each policy, when a limiter is built. Throws a `SluiceError` where
   * this backend cannot keep the policy. The counter is closed where the limiter fails to build, or is closed.
   * Keys with limits of their own have counters of the same name, opened when such a limit is first known: `isOverride`.
   * A key has one limit at a time, so that no such counter has to be read by what another one promises.
   */
  open(compiled: CompiledPolicy, name: string, isOverride?: boolean): Counter<A>
  /**
   * Takes all enforced charges or none. Advisory charges are taken where every charge, they among them, would be;
   * they never keep an enforced one from being taken.
   */
  takeAll(charges: readonly Charge[], moment?: Moment): A
  /** What `takeAll` would answer; changes nothing. */
  peekAll(charges: readonly Charge[], moment?: Moment): A
  /**
   * Adds `cost` units (negative: a refund) to what was taken at `takenAt`; an instant later than now means now. A
   * refund never creates a key.
   */
  adjustAll(charges: readonly Charge[], takenAt: number, moment?: Moment): A
  /** Makes keys as good as new. */
  resetAll(keys: readonly CountedKey[]): MaybePromise<void>
  /** Tells an observer of evictions, tails, breakers, syncs. Returns a function that stops it. */
  observe?(observer: Observer): () => void
  /**
   * `takeAll` of what this process holds ready, so that nobody needs to be asked: for while nobody answers. Undefined where
   * something must be asked.
   */
  takeHeld?(charges: readonly Charge[], moment?: Moment): Answer | undefined
  /** Tells that the way to the counts broke or came back. Returns a function that stops it. */
  interrupted?(listener: (event: Interruption) => void): () => void
  /**
   * Whether what it counted of a key up to `ageMs` ago may be gone; true where that is not known yet. Of a backend that
   * does not say so it may be gone after every interruption.
   */
  mayHaveLost?(counted: CountedKey, ageMs: number): boolean
  /**
   * Of a take that was begun just now: whether it may be counted though no answer to it comes. False of units that this
   * process would spend itself once it has them; default: true.
   */
  mayCountUnanswered?(counted: CountedKey): boolean
  /**
   * Units that a failure rule let pass in its place; negative ones are given back. It counts them later, beyond the limit
   * too. Of a backend that hears of it nothing else is told of what was admitted. `takenAt`: when the rule answered, by
   * the process clock. Never throws. An answer that comes after the rule's is counted by neither of both twice: where it
   * `mayCountUnanswered` and did, the units are given back here; where it may not, it undoes the take itself.
   */
  passed?(charges: readonly Charge[], takenAt: number): void
  /** What this process holds of a key apart from the count; default: nothing. Changes nothing. */
  heldOf?(counted: CountedKey): readonly HeldUnits[]
  close?(): MaybePromise<void>
}
