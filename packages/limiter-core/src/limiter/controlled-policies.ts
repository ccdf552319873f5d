import type { Answer, Charge, LimiterControls, Policy, PolicyControl } from '../contracts.ts'
import { ChargeVerdict } from '../decision/verdict.ts'
import { clientKeyOf } from '../keys/preflight.ts'
import type { OpenPolicy } from './open-policy.ts'

/** The source of a decision over a key that an operator blocked. */
const BLOCKED = 'blocked'

/** The policies of a limiter while an operator steers some of them: what is charged instead of what was asked. */
export class ControlledPolicies {
  readonly #open: ReadonlyMap<string, OpenPolicy>
  readonly #controls: LimiterControls

  /** Throws `SLUICE_BAD_LIMIT` where a policy cannot have a limit. */
  constructor(open: readonly OpenPolicy[], controls: LimiterControls) {
    this.#open = new Map(open.map((one) => [one.policy.name, one]))
    this.#controls = controls
    for (const { policy, counters } of open) {
      const { limit } = this.#of(policy.name)
      if (limit !== undefined) counters.prepare(limit)
    }
  }

  isOff({ name }: Pick<Policy, 'name'>): boolean {
    return this.#of(name).mode === 'off'
  }

  /** True of a policy that denies nobody: in shadow or off. */
  isWaived({ name }: Pick<Policy, 'name'>): boolean {
    return this.#of(name).mode !== undefined
  }

  /** A denial by each policy that is enforced and blocks its key, whose preflights are blocked with it; undefined where none does. */
  blocked(charges: readonly Charge[]): Answer | undefined {
    const verdicts = charges.flatMap((charge) => {
      const { policy } = charge.counter.compiled
      if (charge.advisory || this.isWaived(policy)) return []
      const ms = this.#controls.blockedMs(clientKeyOf(charge.key), policy.name)
      return ms > 0 ? new ChargeVerdict(policy, false, 0, Math.ceil(ms), ms) : []
    })
    return verdicts.length === 0 ? undefined : { verdicts, takenAt: 0, counted: false, source: BLOCKED }
  }

  /** What is charged; none for a policy that is off. */
  charged(charges: readonly Charge[]): readonly Charge[] {
    // blocks alone
    if (this.#controls.policies.size === 0) return charges
    return charges.flatMap((charge) => {
      const { policy } = charge.counter.compiled
      if (this.isOff(policy)) return []
      return { ...this.limited(charge), advisory: charge.advisory || this.isWaived(policy) }
    })
  }

  /** The same, by the limit that holds now. A key with a limit of its own keeps that. */
  limited(charge: Charge): Charge {
    const { name } = charge.counter.compiled.policy
    const { limit } = this.#of(name)
    const open = this.#open.get(name)
    if (limit === undefined || charge.counter !== open?.counter) return charge
    return { ...charge, counter: open.counters.of(limit) ?? charge.counter }
  }

  #of(name: string): PolicyControl {
    return this.#controls.policies.get(name) ?? NOT_CONTROLLED
  }
}

const NOT_CONTROLLED: PolicyControl = {}
