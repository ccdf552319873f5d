import type { Answer, Charge, LimiterControls, Policy, PolicyControl } from '../contracts.ts'
import { ChargeVerdict } from '../decision/verdict.ts'
import { clientKeyOf } from '../keys/preflight.ts'
import { type Mode, mostPermissive } from '../policy/mode.ts'
import { preparedCounter } from './limit-counters.ts'
import type { OpenPolicy } from './open-policy.ts'

/** `source` of a decision about a blocked key. */
const BLOCKED = 'blocked'
const NOT_CONTROLLED: PolicyControl = {}

/** The policies of a limiter under the controls of one or more operators. */
export class ControlledPolicies {
  readonly #open: ReadonlyMap<string, OpenPolicy>
  readonly #all: readonly LimiterControls[]
  /** The joined controls, by name of the policy. */
  readonly #controls: ReadonlyMap<string, PolicyControl>

  /** Throws `SLUICE_BAD_LIMIT` if a policy cannot have the limit that the controls set. */
  constructor(open: readonly OpenPolicy[], all: readonly LimiterControls[]) {
    this.#open = new Map(open.map((one) => [one.policy.name, one]))
    this.#all = all
    const controls = new Map<string, PolicyControl>()
    for (const [name, control] of all.flatMap(({ policies }) => [...policies])) {
      const known = controls.get(name)
      controls.set(name, known ? joined(known, control) : control)
    }
    this.#controls = controls
    for (const { policy, counters } of open) {
      const { limit } = this.#of(policy.name)
      if (limit !== undefined) counters.prepare(limit)
    }
  }

  isOff({ name }: Pick<Policy, 'name'>): boolean {
    return this.#of(name).mode === 'off'
  }

  /** Whether a policy denies requests, under the controls or, if they do not set its mode, as `configured`. */
  isEnforced({ name }: Pick<Policy, 'name'>, configured: Mode): boolean {
    return (this.#of(name).mode ?? configured) === 'enforce'
  }

  /**
   * Returns a denial with a verdict for each enforced policy that blocks its key, or undefined if none does. A blocked
   * key also blocks the preflights of that client.
   */
  blocked(charges: readonly Charge[]): Answer | undefined {
    const verdicts = charges.flatMap((charge) => {
      const { policy } = charge.counter.compiled
      if (!this.isEnforced(policy, configuredMode(charge))) return []
      const key = clientKeyOf(charge.key)
      const ms = Math.max(...this.#all.map((one) => one.blockedMs(key, policy.name)))
      return ms > 0 ? new ChargeVerdict(policy, false, 0, Math.ceil(ms), ms) : []
    })
    return verdicts.length === 0 ? undefined : { verdicts, takenAt: 0, counted: false, source: BLOCKED }
  }

  /** Returns the charges with all controls applied. Policies that are off are left out. */
  applyTo(charges: readonly Charge[]): readonly Charge[] {
    // the controls only block keys
    if (this.#controls.size === 0) return charges
    return charges.flatMap((charge) => {
      const { policy } = charge.counter.compiled
      if (this.isOff(policy)) return []
      return { ...this.withLimit(charge), advisory: !this.isEnforced(policy, configuredMode(charge)) }
    })
  }

  /** Returns the charge with the limit that the controls set. A key with an override keeps its own limit. */
  withLimit(charge: Charge): Charge {
    const { name, windowMs } = charge.counter.compiled.policy
    const { limit } = this.#of(name)
    const open = this.#open.get(name)
    if (limit === undefined || !open || open.overrides?.limitOf(charge.key) !== undefined) return charge
    return { ...charge, counter: preparedCounter(open.counters, limit, windowMs) ?? charge.counter }
  }

  #of(name: string): PolicyControl {
    return this.#controls.get(name) ?? NOT_CONTROLLED
  }
}

/** Returns the more permissive mode and the smaller limit. */
function joined(one: PolicyControl, other: PolicyControl): PolicyControl {
  const limit = Math.min(one.limit ?? Number.POSITIVE_INFINITY, other.limit ?? Number.POSITIVE_INFINITY)
  return {
    mode: mostPermissive([one.mode, other.mode]),
    limit: Number.isFinite(limit) ? limit : undefined,
  }
}

function configuredMode({ advisory }: Charge): Mode {
  return advisory ? 'shadow' : 'enforce'
}
