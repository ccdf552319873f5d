import type { LimiterIdentity, Observers } from '@sluice/limiter-core/http'
import type { ChangingPolicies, PreparedPolicies } from './options/changing-policies.ts'

/** Plans that a gate is prepared for. */
interface Replaceable {
  close(): void
}

/** The part of a gate whose policies change. */
export interface ChangingGate<Plans extends Replaceable> {
  readonly observers: Observers
  /** Opens the current policies. Throws a `SluiceError` if they are invalid for the gate. */
  open(): Plans
  /** Puts opened plans in the place of the current ones. */
  use(plans: Plans): void
}

/** Follows the policies of a gate, and of the gate above it, while they change. */
export class PolicyChanges {
  readonly #below = new Set<() => void>()
  readonly #leave: (() => void)[] = []

  /** Applies changes of the gate's own policies, and of those that it inherits. */
  static of<Req, Res, Plans extends Replaceable>(
    gate: ChangingGate<Plans>,
    own: ChangingPolicies<Req, Res> | undefined,
    above: PolicyChanges | undefined,
  ): PolicyChanges | undefined {
    if (!own && !above) return undefined
    const changes = new PolicyChanges()
    const use = (plans: Plans): void => {
      gate.use(plans)
      for (const changed of changes.#below) changed()
    }
    const prepare = (): PreparedPolicies => {
      const plans = gate.open()
      return { commit: () => use(plans), discard: () => plans.close() }
    }
    const report = (source: string, error?: unknown): void => {
      gate.observers.event('policies', { source, ...(error !== undefined && { refused: error }) })
    }
    if (own) changes.#leave.push(own.follow({ prepare, report }))
    if (above) changes.#leave.push(above.#join(() => use(gate.open())))
    return changes
  }

  /** Returns the identity of a limiter whose policies can change; undefined for other limiters. */
  static identityFor(own: object | undefined, above: object | undefined): LimiterIdentity | undefined {
    return own || above ? {} : undefined
  }

  close(): void {
    for (const leave of this.#leave.splice(0)) leave()
  }

  #join(changed: () => void): () => void {
    this.#below.add(changed)
    return () => this.#below.delete(changed)
  }
}
