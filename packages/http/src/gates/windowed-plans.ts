import { allOf, andThen, type MaybePromise } from '@sluice/limiter-core/http'
import type { LimiterReport } from '../report/limiter-report.ts'
import type { PlanGate } from './plan-gate.ts'
import { isSkipped, type PlannedRequest } from './plan-inputs.ts'
import type { RatePlan } from './rate-plans.ts'

/** The plans with the windows that requests had. A plan has one gate for each combination of windows. */
export class WindowedPlans<Req, Res> {
  readonly #gateOf: (plan: RatePlan<Req, Res>) => PlanGate<Req, Res>
  readonly #gates = new Map<PlanGate<Req, Res>, Map<string, PlanGate<Req, Res>>>()

  constructor(gateOf: (plan: RatePlan<Req, Res>) => PlanGate<Req, Res>) {
    this.#gateOf = gateOf
  }

  /** Returns the request with the gate that has its windows. */
  of(request: PlannedRequest<Req, Res>, report: LimiterReport): MaybePromise<PlannedRequest<Req, Res>> {
    const { gate, view, skipping } = request
    if (!gate.hasWindows) return request
    const policies = gate.plan.map((one) => (isSkipped(one, skipping) ? one : (one.windows?.of(view, report) ?? one)))
    return andThen(allOf(policies), (plan) => ({ ...request, gate: this.#gate(gate, plan) }))
  }

  close(): void {
    for (const byWindows of this.#gates.values()) for (const { limiter } of byWindows.values()) limiter.close()
  }

  #gate(base: PlanGate<Req, Res>, plan: RatePlan<Req, Res>): PlanGate<Req, Res> {
    const byWindows = this.#gates.get(base) ?? new Map<string, PlanGate<Req, Res>>()
    this.#gates.set(base, byWindows)
    const windows = plan.map(({ policy }) => policy.windowMs).join()
    // the policies are closed with the plan that declares them
    const gate = byWindows.get(windows) ?? this.#gateOf(plan.map((one) => ({ ...one, close: () => {} })))
    byWindows.set(windows, gate)
    return gate
  }
}
