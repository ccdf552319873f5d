import type { Decision } from '../contracts.ts'
import type { Observers } from '../observers/observers.ts'
import type { GateEntry, HttpDenial } from './gate.ts'
import type { CountedKeys } from './key-answers.ts'
import type { LayerAnswer } from './layer-answer.ts'
import type { PlanGate } from './plan-gate.ts'
import type { RateLimitOptions } from './rate-limit-options.ts'
import type { LayerRules, RatePlans } from './rate-plans.ts'

/** A request that was counted: what was asked, and what came of it. */
export interface RateCheck<Req, Res> {
  readonly gate: PlanGate<Req, Res>
  /** One key and one cost for each policy of the plan; none at all where it was denied by its key. */
  readonly keys: CountedKeys
  readonly costs: readonly number[]
  readonly decision: Decision
  /** Of a slow-down: it did not fit, and was charged without asking. */
  readonly chargedBeyond?: boolean
  /** One for each layer whose policies decided. */
  readonly entries: readonly GateEntry[]
  /** What to answer; undefined for a request that passes. */
  readonly denial: HttpDenial | undefined
  /** The options by which a denial is answered: those of the layer whose policy binds. */
  readonly answer: RateLimitOptions<Req, Res>
}

/** What is different for the gate of a part of an application. */
export interface OfPart<Req, Res> {
  /** Its scope on a backend of the user's, before that of the options. */
  readonly routeScope?: string | undefined
  /** Instead of those of the options. */
  readonly observers?: Observers | undefined
  /** Of the layer above, where the options say none. */
  readonly answer?: LayerAnswer<Req, Res> | undefined
  /** Instead of those of the options; asked once every other option is known to be good. */
  readonly plans?: ((layer: LayerRules<Req, Res>) => RatePlans<Req, Res>) | undefined
}
