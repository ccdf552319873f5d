import type { LimiterIdentity, Observers } from '@sluice/limiter-core/http'
import { type ChangingPolicies, type PreparedPolicies, prepareAll } from './options/changing-policies.ts'

/** Plans that a gate is prepared for. */
interface Replaceable<Policies> {
  /** What gates below inherit. */
  readonly policies: Policies
  close(): void
}

/** The part of a gate whose policies change. */
export interface ChangingGate<Policies, Plans extends Replaceable<Policies>> {
  readonly observers: Observers
  /**
   * Opens the current policies. `inherited`: the policies of the gate above, if they do not apply yet. Throws a
   * `SluiceError` if the policies are invalid for the gate.
   */
  open(inherited: Policies | undefined): Plans
  /** Puts opened plans in the place of the current ones. */
  use(plans: Plans): void
}

/** Prepares a gate below for the policies of the gate above it. */
type PrepareBelow<Policies> = (inherited: Policies) => PreparedPolicies

const UNCHANGED: PreparedPolicies = { commit: () => {}, discard: () => {} }

/**
 * Follows the policies of a gate, and of the gate above it, while they change. A gate is prepared together with the
 * gates below it: all of them change, or none.
 */
export class PolicyChanges<Policies> {
  readonly #below = new Set<PrepareBelow<Policies>>()
  readonly #leave: (() => void)[] = []
  /** Whether the gate is prepared for policies that neither apply yet nor have been discarded. */
  #isPrepared = false

  /** Applies changes of the gate's own policies, and of those that it inherits. */
  static of<Req, Res, Policies, Plans extends Replaceable<Policies>>(
    gate: ChangingGate<Policies, Plans>,
    own: ChangingPolicies<Req, Res> | undefined,
    above: PolicyChanges<Policies> | undefined,
  ): PolicyChanges<Policies> | undefined {
    if (!own && !above) return undefined
    const changes = new PolicyChanges<Policies>()
    const prepare = (inherited?: Policies): PreparedPolicies => changes.#prepare(gate, inherited)
    const report = (source: string, error?: unknown): void => {
      gate.observers.event('policies', { source, ...(error !== undefined && { refused: error }) })
    }
    if (own) changes.#leave.push(own.follow({ prepare: () => prepare(), report }))
    if (above) changes.#leave.push(above.#join(prepare))
    return changes
  }

  /** Returns the identity of a limiter whose policies can change; undefined for other limiters. */
  static identityFor(own: object | undefined, above: object | undefined): LimiterIdentity | undefined {
    return own || above ? {} : undefined
  }

  close(): void {
    for (const leave of this.#leave.splice(0)) leave()
  }

  #join(prepare: PrepareBelow<Policies>): () => void {
    this.#below.add(prepare)
    return () => this.#below.delete(prepare)
  }

  /** Prepares the gate, and the gates below it. If one of them throws, none stays prepared. */
  #prepare<Plans extends Replaceable<Policies>>(
    gate: ChangingGate<Policies, Plans>,
    inherited: Policies | undefined,
  ): PreparedPolicies {
    // a gate with the document of a gate above was prepared with that gate, which follows the document before it
    if (this.#isPrepared) return UNCHANGED
    const plans = gate.open(inherited)
    this.#isPrepared = true
    const close = (): void => {
      this.#isPrepared = false
      plans.close()
    }
    try {
      const below = prepareAll([...this.#below].map((prepare) => () => prepare(plans.policies)))
      const commit = (): void => {
        this.#isPrepared = false
        gate.use(plans)
        below.commit()
      }
      const discard = (): void => {
        below.discard()
        close()
      }
      return { commit, discard }
    } catch (error) {
      close()
      throw error
    }
  }
}
