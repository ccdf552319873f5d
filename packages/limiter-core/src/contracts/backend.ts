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

/** Stores the counts of policies. */
export interface Backend<A extends MaybePromise<Answer> = MaybePromise<Answer>> {
  readonly name: string
  /** Equal for backends of this process that count in one place: equal names on them are one count. */
  readonly identity?: object | undefined
  /**
   * Whether the backend always answers synchronously. Synchronous backends are called before others. Failover is put
   * in front of them all the same.
   */
  readonly synchronous?: boolean
  /** True for one that counts for its own process: N processes admit up to N limits. */
  readonly perProcess?: boolean
  /**
   * Algorithms that the backend supports. Default: all. A policy without an algorithm uses one of them; `open`
   * refuses others.
   */
  readonly algorithms?: readonly AlgorithmName[] | undefined
  /** Whether windows can follow `policy.calendar`. Limiters refuse a policy with a calendar on other backends. */
  readonly keepsCalendars?: boolean | undefined
  /**
   * Opens a counter for a policy and a name; called once per policy when a limiter is created. Throws a `SluiceError`
   * if the backend cannot count the policy. The counter is closed when the limiter is closed, or if the limiter
   * cannot be created. Each distinct override limit has its own counter with the same name, opened with `isOverride`
   * when the limit first appears. A key has one limit at a time, so that counters of the same name never interpret
   * each other's state.
   */
  open(compiled: CompiledPolicy, name: string, isOverride?: boolean): Counter<A>
  /**
   * Takes all enforced charges or none. Advisory charges are taken if all charges fit; they never prevent an enforced
   * charge.
   */
  takeAll(charges: readonly Charge[], moment?: Moment): A
  /** Returns what `takeAll` would return, and changes nothing. */
  peekAll(charges: readonly Charge[], moment?: Moment): A
  /**
   * Adds `cost` units (negative: a refund) to what was taken at `takenAt`. A time in the future means now. A refund
   * never creates a key.
   */
  adjustAll(charges: readonly Charge[], takenAt: number, moment?: Moment): A
  /** Makes keys as good as new. */
  resetAll(keys: readonly CountedKey[]): MaybePromise<void>
  /** Reports evictions, tails, breakers and syncs to an observer. Returns a function that unsubscribes. */
  observe?(observer: Observer): () => void
  /**
   * Like `takeAll`, but uses only units that this process holds, without a call. Used during an outage. Returns
   * undefined if a call would be needed.
   */
  takeHeld?(charges: readonly Charge[], moment?: Moment): Answer | undefined
  /** Reports when the connection is lost and when it has recovered. Returns a function that unsubscribes. */
  interrupted?(listener: (event: Interruption) => void): () => void
  /**
   * Whether counts of a key that are up to `ageMs` old may be lost; true if that is not known yet. Without this
   * method, counts may be lost after every interruption.
   */
  mayHaveLost?(counted: CountedKey, ageMs: number): boolean
  /**
   * Whether a take that has just started may be counted although its reply never arrives. False for units that this
   * process spends itself once it holds them. Default: true.
   */
  mayCountUnanswered?(counted: CountedKey): boolean
  /**
   * Reports units that the failure rule admitted instead of the backend; negative units are refunds. The backend
   * counts them later, even above the limit, and then receives no other report about them. `takenAt` is the process
   * time of the decision. Never throws. A late reply must not be counted twice: if the backend `mayCountUnanswered`
   * and did count, refund the units here; otherwise the backend undoes the take itself.
   */
  passed?(charges: readonly Charge[], takenAt: number): void
  /** Units of a key that this process holds in addition to the count. Default: none. Changes nothing. */
  heldOf?(counted: CountedKey): readonly HeldUnits[]
  close?(): MaybePromise<void>
}
