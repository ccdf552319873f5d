import type { Answer, Backend, Clock, Policy } from '@sluice/limiter-core'
import type { ClientIds } from '../counts/client-ids.ts'
import { DenialCounts } from '../counts/denial-counts.ts'
import { WindowDemand } from './window-demand.ts'

/** What one policy did during a replay. */
export class PolicyReplay {
  readonly policy: Policy
  readonly counts: DenialCounts
  readonly #demand: WindowDemand

  constructor(policy: Policy, ids: ClientIds, backend: Backend<Answer>, clock: Clock) {
    this.policy = policy
    this.counts = new DenialCounts(ids)
    this.#demand = new WindowDemand(policy, backend, clock)
  }

  /** Records a request that the policy applies to. `place`: returns its route, for denied requests. */
  record(key: string, cost: number, timeMs: number, isDenied: boolean, place: () => string): void {
    const used = this.#demand.use(key, cost)
    if (isDenied) this.counts.deny(key, timeMs, place(), used)
    else this.counts.allowed(key, timeMs, used)
  }
}
