import type { Charge } from './charge.ts'
import type { CountEstimate } from './count-estimate.ts'
import type { CountedKey, Counter } from './counter.ts'
import type { Answer } from './decisions/answer.ts'
import type { CompiledPolicy } from './decisions/compiled-policy.ts'
import type { AlgorithmName } from './decisions/policy.ts'
import type { HeldUnits } from './held-units.ts'
import type { Interruption } from './interruption.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { Moment } from './moment.ts'
import type { Observer } from './observer.ts'

/** Stores the counts of policies. `A` is `Answer` for a synchronous backend and `Promise<Answer>` for a remote one. */
export interface Backend<A extends MaybePromise<Answer> = MaybePromise<Answer>> {
  /** Name in warnings and metrics, such as `memory` or `redis`. */
  readonly name: string
  /**
   * Object shared by all backends of this process that use the same storage: counters with equal names on such
   * backends share a count. Default: the backend itself.
   */
  readonly identity?: object | undefined
  /**
   * Whether the backend always answers synchronously. Default: false. If a request uses several backends, synchronous
   * ones are called first. Synchronous backends still get failover, because they can throw.
   */
  readonly synchronous?: boolean
  /** Whether each process has its own counts, so that N processes admit up to N times the limit. Default: false. */
  readonly perProcess?: boolean
  /** Supported algorithms. Default: all. The default algorithm of a policy is one of them; `open` throws for others. */
  readonly algorithms?: readonly AlgorithmName[] | undefined
  /** Whether the backend supports `Policy.calendar`. Default: false, and a limiter throws `SLUICE_BAD_POLICY`. */
  readonly keepsCalendars?: boolean | undefined
  /**
   * Whether the backend holds units of policies with `maxHoldMs`, which it then opens with `CompiledPolicy.holds`.
   * Default: false, and this process returns held units that have not been settled in time.
   */
  readonly keepsHolds?: boolean | undefined
  /**
   * Whether the backend books turns of policies with `retry: 'booked'`, by `CompiledPolicy.bookings`: for each enforced
   * charge that causes a denial. Default: false, and a limiter throws `SLUICE_BAD_OPTION` for such a policy.
   */
  readonly booksTurns?: boolean | undefined
  /** Most counts that one request may change. Default: no limit. A limiter with more throws `SLUICE_BAD_POLICY`. */
  readonly maxCounts?: number | undefined
  /**
   * Returns a counter for a policy. Called once per policy when a limiter is created. Throws a `SluiceError` if the
   * backend cannot count the policy. The limiter closes the counter when it is closed, or at once if the limiter cannot
   * be created.
   *
   * Each distinct override limit has its own counter with the same `name`, opened with `isOverride` when the limit
   * first appears. A key has one limit at a time, so counters with the same name never read each other's state.
   */
  open(compiled: CompiledPolicy, name: string, isOverride?: boolean): Counter<A>
  /**
   * Takes all enforced charges, or none of them if one does not fit. Advisory charges are taken if all charges fit,
   * and never cause a denial.
   */
  takeAll(charges: readonly Charge[], moment?: Moment): A
  /** Returns what `takeAll` would return, and changes nothing. */
  peekAll(charges: readonly Charge[], moment?: Moment): A
  /**
   * Adds `cost` units to takes made at `takenAt`; a negative cost is a refund. A `takenAt` in the future means now.
   * A refund never creates a key.
   */
  adjustAll(charges: readonly Charge[], takenAt: number, moment?: Moment): A
  /** Removes all usage and debt of keys. */
  resetAll(keys: readonly CountedKey[]): MaybePromise<void>
  /** Reports evictions, breaker changes and other internal events to an observer. Returns a function to unsubscribe. */
  observe?(observer: Observer): () => void
  /**
   * Takes charges from units that this process already holds, such as leased units, without a remote call. Returns
   * undefined if a remote call would be needed. Used while the backend is unavailable.
   */
  takeHeld?(charges: readonly Charge[], moment?: Moment): Answer | undefined
  /** Reports when the connection is lost and when it has recovered. Returns a function that unsubscribes. */
  interrupted?(listener: (event: Interruption) => void): () => void
  /**
   * Whether counts of a key that the backend reported up to `ageMs` ago may have been lost since then; true if this is
   * not known yet. A backend without this method may have lost all counts after every interruption.
   */
  mayHaveLost?(counted: CountedKey, ageMs: number): boolean
  /**
   * Whether a take that has just started may be counted even if its reply never arrives. False if this process spends
   * the units itself once it holds them. Default: true.
   */
  mayCountUnanswered?(counted: CountedKey): boolean
  /**
   * Receives units that the failure rule admitted while the backend was unavailable; negative units are refunds. The
   * backend counts them later, even above the limit. The charges have neither `known` nor `hold`. `takenAt` is the
   * process time of the decision. Must not throw.
   *
   * Units are counted once even if the original reply arrives late: if `mayCountUnanswered` is true and the take was
   * counted, the caller refunds the units through this method; otherwise the backend undoes the take itself.
   */
  passed?(charges: readonly Charge[], takenAt: number): void
  /** Returns the units of a key that this process holds, and changes nothing. Default: no units. */
  heldOf?(counted: CountedKey): readonly HeldUnits[]
  /**
   * Describes how the count of a key differs from the shared count, and changes nothing. Default: undefined, the count
   * is the shared count.
   */
  estimateOf?(counted: CountedKey): CountEstimate | undefined
  /** Stops timers and releases connections that the backend opened itself. */
  close?(): MaybePromise<void>
}
