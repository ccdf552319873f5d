import {
  andThen,
  type MaybePromise,
  type PolicyLimiter,
  type RequestView,
  SluiceError,
  shown,
} from '@sluice/limiter-core/http'
import { type LimiterReport, reportUnlessPreflight } from '../report/limiter-report.ts'
import type { SkipHook } from './options/gate-options.ts'
import { runHook } from './options/hook.ts'
import type { PlansOptions, RateLimitOptions } from './options/rate-limit-options.ts'
import type { PlanGate } from './plan-gate.ts'
import type { PlannedRequest } from './plan-inputs.ts'
import type { RatePlan, RatePlans } from './rate-plans.ts'
import { SkipHooks } from './skip-hooks.ts'

const NONE: readonly never[] = []

/** The plans of a gate. The hooks `skip` and `plan` select the plan and the policies that count a request. */
export class PlanChoice<Req, Res> {
  /** The plan that counts a request if there is no `plan` hook. */
  readonly first: PlanGate<Req, Res>
  /** Policy names of all plans. */
  readonly policyNames: readonly string[]
  /** Whether a hook must be called for each request. */
  readonly hasHooks: boolean
  readonly #gates: ReadonlyMap<string, PlanGate<Req, Res>>
  readonly #skips: SkipHooks<Req>
  readonly #plan: PlansOptions<Req, Res>['plan'] | undefined

  /** `plans` by name; at least one. */
  constructor(
    plansByName: RatePlans<Req, Res>,
    gateOf: (plan: RatePlan<Req, Res>) => PlanGate<Req, Res>,
    options: RateLimitOptions<Req, Res>,
  ) {
    const gates = new Map([...plansByName].map(([name, plan]) => [name, gateOf(plan)]))
    const plans = Array.from(gates.values(), ({ plan }) => plan)
    this.first = gates.values().next().value as PlanGate<Req, Res>
    this.policyNames = [...new Set(plans.flat().map(({ policy }) => policy.name))]
    this.#gates = gates
    this.#skips = new SkipHooks(plans)
    this.#plan = (options as Partial<PlansOptions<Req, Res>>).plan
    this.hasHooks = !this.#skips.isEmpty || this.#plan !== undefined
  }

  /** Whether all policies of all plans are off. */
  get isOff(): boolean {
    return [...this.policies.values()].every((plan) => plan.every(({ mode }) => mode === 'off'))
  }

  /** The policies by name of the plan. */
  get policies(): RatePlans<Req, Res> {
    return new Map([...this.#gates].map(([name, { plan }]) => [name, plan]))
  }

  /** Returns the limiter of a plan. Without a name, or if there is no such plan, returns that of the first plan. */
  limiter(plan?: string): PolicyLimiter {
    return (plan === undefined ? this.first : (this.#gates.get(plan) ?? this.first)).limiter
  }

  /** Calls the hooks for a request. Returns undefined if every policy is skipped. */
  choose(view: RequestView<Req>, report: LimiterReport): MaybePromise<PlannedRequest<Req, Res> | undefined> {
    const skipped = this.#skips.isEmpty ? NONE : this.#skips.evaluate(view, report)
    return andThen(skipped, (skipping) => skipping && this.#planned(view, skipping, report))
  }

  /** Takes the place of earlier plans, whose requests in progress can still be settled. Keys keep their usage. */
  replace(previous: PlanChoice<Req, Res>): void {
    for (const [name, { limiter }] of previous.#gates) {
      const next = this.#gates.get(name)
      if (next) next.limiter.replace(limiter)
      else limiter.close()
    }
  }

  close(): void {
    for (const { limiter } of this.#gates.values()) limiter.close()
  }

  #planned(
    view: RequestView<Req>,
    skipping: readonly SkipHook<Req>[],
    report: LimiterReport,
  ): MaybePromise<PlannedRequest<Req, Res>> {
    const plan = this.#plan
    if (!plan) return { view, skipping, gate: this.first }
    const hookReport = reportUnlessPreflight(view, report)
    const gate = runHook(
      'plan',
      () => plan(view.raw),
      (name) => this.#named(name),
      this.first,
      hookReport,
    )
    return andThen(gate, (one) => ({ view, skipping, gate: one }))
  }

  #named(name: string | undefined): PlanGate<Req, Res> {
    const gate = this.#gates.get(name as string)
    if (gate) return gate
    const expected = [...this.#gates.keys()].map((plan) => `'${plan}'`).join(', ')
    throw new SluiceError('SLUICE_UNKNOWN_PLAN', `plan: expected one of ${expected}, received ${shown(name, 'plan')}`)
  }
}
