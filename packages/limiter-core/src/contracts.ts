/**
 * Every noun of the suite, one home. Backends, adapters and observers depend on this file; it depends on nothing.
 * All durations are milliseconds, all times are readings of a `Clock`.
 */

import type { Interruption } from './fleet-contracts.ts'
import type { PriorUsage } from './prior-usage.ts'
import type { Step } from './step-contracts.ts'

export type { Channel, Interruption, Script, ScriptRunner } from './fleet-contracts.ts'
export type { RequestView } from './http/request-view.ts'
export type { AcquireOptions, Cap, Denial, InflightBackend, Permit, PermitOutcome } from './inflight-contracts.ts'
export type { Admitted, PriorUsage } from './prior-usage.ts'
export type { Algorithm, Step, StepVariant } from './step-contracts.ts'

/** A value now, or a promise of it. Whoever can answer at once does, so that a limit in memory costs no promise. */
export type MaybePromise<T> = T | Promise<T>

/** The only source of time. Deadlines, leases, sweeps and ticks all go through it, so that a test can own time. */
export interface Clock {
  /** Monotonic milliseconds since an arbitrary start; may have a fraction; never steps back. */
  now(): number
  /** Epoch milliseconds. For calendars and for headers that need a date; a limit never reads it. */
  wall(): number
  /** Runs `run` once after `ms`. Returns a function that cancels it. Keeps the process alive only with `keepAlive`. */
  after(ms: number, run: () => void, options?: TimerOptions): () => void
}

export interface TimerOptions {
  /** Somebody awaits what the timer ends: the process must not end before. Default: false. */
  readonly keepAlive?: boolean
}

/** A named promise: at most `limit` units per `windowMs` for each key. Data only: logged, stored, compared, written in YAML. */
export interface Policy {
  readonly name: string
  readonly algorithm: AlgorithmName
  /** Whole units, at least 1. */
  readonly limit: number
  /** Milliseconds, at least 1. */
  readonly windowMs: number
  /** token-bucket and gcra: how many units fit at once; default: `limit`. */
  readonly burst?: number
  /** sliding-window: into how many slices the window is cut; 1 is the weighted two-epoch counter. */
  readonly slices?: number
  /** What is counted; default: `requests`. */
  readonly unit?: string
  /** Durable quotas only: the window follows the calendar of a time zone. */
  readonly calendar?: { readonly per: 'day' | 'week' | 'month'; readonly timeZone: string }
}

export type AlgorithmName = 'fixed-window' | 'sliding-window' | 'sliding-log' | 'token-bucket' | 'gcra'

/** What one policy answers. Durations are relative, so that no two clocks must agree. */
export interface Verdict {
  readonly allowed: boolean
  /** Whole units that could be taken right now, after this decision. */
  readonly remaining: number
  /** Whole ms until the same cost would fit; 0 when allowed, Infinity when it never can. */
  readonly retryAfterMs: number
  /** Milliseconds until the key is as good as new; 0 when it is. */
  readonly resetAfterMs: number
  /**
   * Whole ms until `remaining` grows, if nothing else comes; 0 for a key that is full. Of a denial of one unit it is
   * `retryAfterMs`. A guess while units are on lease.
   */
  readonly availableAfterMs: number
}

/** A verdict with the policy that gave it. */
export interface PolicyVerdict extends Verdict {
  readonly policy: Policy
  /** True for a policy in shadow: it is counted and shown to observers, and denies nobody. */
  readonly shadow: boolean
}

/**
 * A verdict as a backend answers it. One that cannot tell when `remaining` grows leaves that out: a decision then has
 * the latest instant at which it may, when the same cost fits, or of an allowed one when the key is as good as new.
 */
export type AnsweredVerdict = Omit<PolicyVerdict, 'availableAfterMs'> & Partial<Pick<PolicyVerdict, 'availableAfterMs'>>

/** What all policies of one request answer together. */
export interface Decision {
  readonly allowed: boolean
  /**
   * One for each policy that was asked, in the order of the policies. Where policies count on several backends, those
   * of a later backend are not asked once an earlier one denied.
   */
  readonly verdicts: readonly PolicyVerdict[]
  /** A denied one, else the one nearest its end. A shadow policy binds only where every policy is one. */
  readonly binding: PolicyVerdict
  /** The largest of the denied ones; 0 when allowed. */
  readonly retryAfterMs: number
  /** The backend's reading of its clock; hand it back to `charge`, so that a refund finds its window. */
  readonly takenAt: number
  /** One reading for each verdict, where several backends answered together. */
  readonly takenAts?: readonly number[] | undefined
  /** False when the backend failed and the failure rule answered. */
  readonly counted: boolean
  /** `counted` of each verdict, where several backends answered together. */
  readonly countedEach?: readonly boolean[] | undefined
  /** Who answered: `memory`, `redis`, `local`, … */
  readonly source: string
}

/** One key asked for one policy. */
export interface Charge {
  readonly key: string
  readonly step: Step
  /** The name of the count: `scope/policy/algorithm@version`. Charges with equal names and keys meet in one count. */
  readonly count: string
  /** Whole units, 0 or more. 0 asks and takes nothing. For `adjust`: whole units, negative for a refund. */
  readonly cost: number
  /** In shadow: counted as if it could deny, and never a veto. */
  readonly advisory?: boolean
  /**
   * What the caller knows of this key and the backend may not. A backend that lost what it counted, or never counted it,
   * first makes that good. `take` and `adjust` look at it.
   */
  readonly known?: PriorUsage | undefined
}

/** One verdict for each charge, in their order; a composite of several backends may leave out charges not asked. */
export interface Answer {
  readonly verdicts: readonly AnsweredVerdict[]
  readonly takenAt: number
  /** One reading for each charge, where several backends with clocks of their own answered together. */
  readonly takenAts?: readonly number[] | undefined
  readonly counted: boolean
  /** One for each charge, where several backends answered together. */
  readonly countedEach?: readonly boolean[] | undefined
  readonly source: string
}

/** The caller's reading of the clock, so that it is read once a request. Backends with a clock of their own ignore `now`. */
export interface Moment {
  readonly now?: number
  /** After this instant nobody waits for the answer: a command that arrives later must do nothing. */
  readonly deadlineAt?: number
  /** Of `adjust`: the failure rule answered the take, so that the backend knows nothing of it. */
  readonly uncounted?: boolean
  /**
   * Of `adjust`: who cannot know whether an adjustment was made may ask for it again under the same key. A backend over a
   * network makes it once for each of its charges, and refuses it with `LATE` once the key is 30 seconds old. Other
   * backends have no need of it.
   */
  readonly idempotencyKey?: IdempotencyKey
}

/** What tells a command that is sent again from another one. */
export interface IdempotencyKey {
  /** Unlike all others. */
  readonly id: string
  /** When it was first asked for, by the process clock. */
  readonly issuedAt: number
}

/** Where counts live. */
export interface Backend<A extends MaybePromise<Answer> = MaybePromise<Answer>> {
  readonly name: string
  /** Equal for backends of this process that count in one place: equal names on them are one count. */
  readonly identity?: object | undefined
  /** True for one that always answers at once; of several it is asked before those that do not. Failover stands before it all the same. */
  readonly synchronous?: boolean
  /** True for one that counts for its own process: N processes admit up to N limits. */
  readonly perProcess?: boolean
  /** Those that it can keep; default: all. A policy that names none gets one of them; `prepare` refuses the others. */
  readonly algorithms?: readonly AlgorithmName[]
  /**
   * Asked once for each policy before anything is counted under it, when a limiter is built. Throws a `SluiceError`
   * where this backend cannot keep it. What it returns is called where the limiter fails to build, or is closed.
   */
  prepare?(step: Step, count: string): (() => void) | undefined
  /**
   * Takes all enforced charges or none. Advisory charges are taken where every charge, they among them, would be;
   * they never keep an enforced one from being taken.
   */
  take(charges: readonly Charge[], moment?: Moment): A
  /** `take` of one enforced charge without the lists around it. For backends to which that matters. */
  takeOne?(
    key: string,
    step: Step,
    count: string,
    cost: number,
    moment?: Moment,
  ): A extends Promise<unknown> ? Promise<Decision> : A extends Answer ? Decision : MaybePromise<Decision>
  /** What `take` would answer; changes nothing. */
  peek(charges: readonly Charge[], moment?: Moment): A
  /**
   * Adds `cost` units (negative: a refund) to what was taken at `takenAt`; an instant later than now means now. A
   * refund never creates a key.
   */
  adjust(charges: readonly Charge[], takenAt: number, moment?: Moment): A
  /** Makes keys as good as new. */
  reset(targets: readonly Pick<Charge, 'key' | 'step' | 'count'>[]): MaybePromise<void>
  /** Tells an observer of evictions, tails, breakers, syncs. Returns a function that stops it. */
  observe?(observer: Observer): () => void
  /**
   * `take` of what this process holds ready, so that nobody needs to be asked: for while nobody answers. Undefined where
   * something must be asked.
   */
  takeHeld?(charges: readonly Charge[], moment?: Moment): Answer | undefined
  /** Tells that the way to the counts broke or came back. Returns a function that stops it. */
  interrupted?(listener: (event: Interruption) => void): () => void
  /**
   * Whether what it counted of a key up to `ageMs` ago may be gone; true where that is not known yet. Of a backend that
   * does not say so it may be gone after every interruption.
   */
  mayHaveLost?(target: Pick<Charge, 'key' | 'step' | 'count'>, ageMs: number): boolean
  /**
   * Of a take that was begun just now: whether it may be counted though no answer to it comes. False of units that this
   * process would spend itself once it has them; default: true.
   */
  mayCountUnanswered?(charge: Pick<Charge, 'key' | 'step' | 'count'>): boolean
  close?(): MaybePromise<void>
}

export type ObserverEvent =
  | 'evicted'
  | 'tail'
  | 'keyFallback'
  | 'lateCharge'
  | 'hookFailed'
  | 'backendFailed'
  | 'breaker'
  | 'sync'
  | 'slowed'
  | 'saturated'

/** Watches, never changes an answer. One that throws is dropped and counted. */
export interface Observer {
  decided?(key: string, decision: Decision): void
  permitAcquired?(key: string): void
  permitReleased?(key: string, heldMs: number): void
  capDenied?(key: string): void
  event?(name: ObserverEvent, data: Readonly<Record<string, unknown>>): void
}
