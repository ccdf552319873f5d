import type { Clock, Policy } from '@sluice/limiter-core'
import type { FilePolicy, MatchedPolicy } from '@sluice/policies'
import type { ClientIds } from '../counts/client-ids.ts'
import { DenialCounts } from '../counts/denial-counts.ts'
import { PlanUsage } from '../counts/plan-usage.ts'
import { WindowDemand } from './window-demand.ts'

/** What one policy did during a replay. */
export class PolicyReplay {
  readonly policy: Policy
  readonly counts: DenialCounts
  /** Usage by plan; empty if all plans have the same limit. */
  readonly plans: ReadonlyMap<string, PlanUsage>
  /** Number of requests that the policy denied because their keys were banned. */
  banned = 0
  readonly #demand: WindowDemand

  /** `policy`: the compiled policy of `written`. `ids`: the clients of the log. */
  constructor({ written }: FilePolicy, policy: Policy, ids: ClientIds, clock: Clock) {
    this.policy = policy
    this.counts = new DenialCounts(ids)
    const plans = typeof written.limit === 'number' ? [] : Object.keys(written.limit)
    this.plans = new Map(plans.map((plan) => [plan, new PlanUsage(ids)]))
    this.#demand = new WindowDemand(policy, ids, clock)
  }

  /** Records a request that the policy applies to. `place`: returns its route, for denied requests. */
  record({ key, plan }: MatchedPolicy, cost: number, timeMs: number, isDenied: boolean, place: () => string): void {
    const used = this.#demand.use(key, cost)
    if (isDenied) this.counts.deny(key, timeMs, place(), used)
    else this.counts.allowed(key, timeMs, used)
    if (plan !== undefined) this.plans.get(plan)?.record(key, isDenied, used)
  }
}
