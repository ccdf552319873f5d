import type { Decision } from '../contracts.ts'
import type { Observers } from '../observers.ts'
import type { GateEntry, HttpDenial } from './gate.ts'
import type { CountedKeys } from './key-answers.ts'
import type { PlanGuard } from './plan-guard.ts'
import type { RatePlans } from './rate-plans.ts'

/** A request that was counted: what was asked, and what came of it. */
export interface RateCheck<Req, Res> {
  readonly guard: PlanGuard<Req, Res>
  /** One key and one cost for each policy of the plan; none at all where it was denied by its key. */
  readonly keys: CountedKeys
  readonly costs: readonly number[]
  readonly decision: Decision
  /** Of a slow-down: it did not fit, and was charged without asking. */
  readonly chargedBeyond?: boolean
  readonly entry: GateEntry
  /** What to answer; undefined for a request that passes. */
  readonly denial: HttpDenial | undefined
}

/** What is different for the guard of a part of an application. */
export interface OfPart<Req, Res> {
  /** Its scope on a backend of the user's, before that of the options. */
  readonly place?: string | undefined
  /** Instead of those of the options. */
  readonly observers?: Observers | undefined
  /** Instead of those of the options; asked once every other option is known to be good. */
  readonly plans?: (() => RatePlans<Req, Res>) | undefined
}
