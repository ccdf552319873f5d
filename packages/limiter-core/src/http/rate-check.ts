import type { Decision } from '../contracts.ts'
import type { Observers } from '../observers/observers.ts'
import type { GateEntry, HttpDenial } from './gate.ts'
import type { CountedKeys } from './key-answers.ts'
import type { LayerAnswer } from './layer-answer.ts'
import type { PlanGate } from './plan-gate.ts'
import type { RateLimitOptions } from './rate-limit-options.ts'
import type { LayerRules, RatePlans } from './rate-plans.ts'

/** A counted request: its keys, costs and decision. */
export interface RateCheck<Req, Res> {
  readonly gate: PlanGate<Req, Res>
  /** One key and one cost per policy of the plan; empty if the request was denied by its key. */
  readonly keys: CountedKeys
  readonly costs: readonly number[]
  readonly decision: Decision
  /** For a slow-down: the request did not fit and was charged without a check. */
  readonly chargedBeyond?: boolean
  /** One entry per layer whose policies decided. */
  readonly entries: readonly GateEntry[]
  /** The denial to send; undefined for an allowed request. */
  readonly denial: HttpDenial | undefined
  /** Options for answering a denial: those of the layer whose policy is binding. */
  readonly answer: RateLimitOptions<Req, Res>
}

/** Overrides for the gate of a part of an application. */
export interface OfPart<Req, Res> {
  /** Scope of the part on an explicit backend, used before `scope` of the options. */
  readonly routeScope?: string | undefined
  /** Replaces the observers of the options. */
  readonly observers?: Observers | undefined
  /** Answer of the layer above, used if the options define none. */
  readonly answer?: LayerAnswer<Req, Res> | undefined
  /** Replaces the plans of the options. Called once all other options have been validated. */
  readonly plans?: ((layer: LayerRules<Req, Res>) => RatePlans<Req, Res>) | undefined
}
