import { RateGate } from '@sluice/http'
import type { Backend, Decision, Policy } from '@sluice/limiter-core/http'
import type { FakeClock } from '@sluice/testkit'

export type PlanPolicy = Omit<Policy, 'name' | 'windowMs'> & { readonly windowMs: number }

/** One policy with one name in several plans, and one key. */
export class PlanSite {
  readonly #guard: RateGate<unknown, unknown>

  /** Without a clock, real time is used. */
  constructor(plans: Readonly<Record<string, PlanPolicy>>, clock?: FakeClock, backend?: Backend) {
    const inputs = Object.entries(plans).map(([plan, { windowMs, ...policy }]) => [
      plan,
      [{ name: 'quota', window: windowMs, ...policy }],
    ])
    const given = { ...(clock && { clock }), ...(backend && { backend }) }
    const options = { plans: Object.fromEntries(inputs), plan: () => undefined, deadlineMs: 5_000, ...given }
    this.#guard = new RateGate(options as never)
  }

  async take(plan: string, cost = 1): Promise<Decision> {
    return this.#guard.limiter(plan).take('key', cost)
  }

  async peek(plan: string, cost = 1): Promise<Decision> {
    return this.#guard.limiter(plan).peek('key', cost)
  }

  /** Charges or refunds units of a take. */
  async charge(plan: string, units: number, taken: Decision | number): Promise<Decision> {
    return this.#guard.limiter(plan).charge('key', units, taken) as Promise<Decision>
  }

  async reset(plan: string): Promise<void> {
    await this.#guard.limiter(plan).reset('key')
  }

  async left(plan: string): Promise<number> {
    return (await this.peek(plan, 0)).binding.remaining
  }

  close(): void {
    this.#guard.close()
  }
}
