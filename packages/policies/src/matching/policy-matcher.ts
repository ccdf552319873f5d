import type { PolicyDocument } from '../document/policy-document.ts'
import type { AttributeSource } from './attribute-source.ts'
import { RequestCost } from './condition-cost.ts'
import { byPolicy } from './file-overrides.ts'
import { type ConditionFailed, FilePolicy } from './file-policy.ts'
import { keyOfParts } from './policy-key.ts'
import { replacementsBy } from './replacements.ts'
import { RequestIndex } from './request-index.ts'
import { isIncluded } from './rollout.ts'

/** A policy that applies to a request. */
export interface MatchedPolicy {
  readonly policy: FilePolicy
  /** Place of the policy in the file, from 0. */
  readonly place: number
  /** Key that counts the request. */
  readonly key: string
  /** Plan of the policy whose limit the request has; undefined if all plans have the same. */
  readonly plan: string | undefined
  /** Limit of the plan, in units per window; undefined if all plans have the same. */
  readonly limit: number | undefined
}

/** Decides which policies of a document apply to a request. */
export class PolicyMatcher {
  readonly policies: readonly FilePolicy[]
  /** Names of the attributes that `match` reads. */
  readonly attributes: readonly string[]
  readonly #index: RequestIndex
  /** Places of the policies that each policy replaces. */
  readonly #replaced: readonly (readonly number[])[]
  readonly #failed: ConditionFailed

  /** `failed` is called if a condition cannot be evaluated. Default: such a policy does not apply, without notice. */
  constructor({ policies, overrides = [] }: PolicyDocument, failed: ConditionFailed = () => {}) {
    const overridesOf = byPolicy(overrides)
    this.policies = policies.map((written) => new FilePolicy(written, overridesOf(written.name)))
    // `address` takes the place of missing attributes
    this.attributes = [...new Set(['address', ...this.policies.flatMap(({ attributes }) => attributes)])]
    this.#index = new RequestIndex(
      this.policies.map(({ written, match }) => (written.mode === 'off' ? undefined : match)),
    )
    this.#replaced = replacementsBy(this.policies)
    this.#failed = failed
  }

  /**
   * Returns the policies that apply to a request: all whose `match` and `when` fit it and whose rollout includes its
   * key, except those that one of the others replaces. The result has one entry for each policy of the file, in its
   * order; undefined for a policy that does not apply.
   */
  match(read: AttributeSource): readonly (MatchedPolicy | undefined)[] {
    const all: (MatchedPolicy | undefined)[] = new Array(this.policies.length).fill(undefined)
    for (const one of this.applying(read)) all[one.place] = one
    return all
  }

  /** Returns the policies that apply to a request, as `match` does, without the others. */
  applying(read: AttributeSource): readonly MatchedPolicy[] {
    const fitting: MatchedPolicy[] = []
    const replaced = new Set<number>()
    const cost = new RequestCost()
    for (const place of this.#index.candidates(read)) {
      const policy = this.policies[place]
      const fits = policy.fits(read, this.#failed, cost)
      if (!fits) continue
      const key = keyOfParts(policy.key.partsOf(read))
      if (!isIncluded(policy.share, policy.name, key)) continue
      const plan = policy.planOf(read)
      fitting.push({ policy, place, key, plan, limit: policy.limitOf(plan) })
      // a request that is made expensive must not choose a more generous policy
      if (fits !== 'assumed') for (const other of this.#replaced[place]) replaced.add(other)
    }
    return replaced.size === 0 ? fitting : fitting.filter(({ place }) => !replaced.has(place))
  }
}
