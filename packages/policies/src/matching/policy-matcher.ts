import type { PolicyDocument } from '../document/policy-document.ts'
import type { AttributeSource } from './attribute-source.ts'
import { type ConditionFailed, FilePolicy } from './file-policy.ts'
import { keyOfParts } from './policy-key.ts'
import { replacersOf } from './replacements.ts'
import { isIncluded } from './rollout.ts'

/** A policy that applies to a request. */
export interface MatchedPolicy {
  readonly policy: FilePolicy
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
  /** Indexes of the policies that take the place of each policy. */
  readonly #replacing: readonly (readonly number[])[]
  readonly #failed: ConditionFailed

  /** `failed` is called if a condition cannot be evaluated. Default: such a policy does not apply, without notice. */
  constructor({ policies, overrides = [] }: PolicyDocument, failed: ConditionFailed = () => {}) {
    this.policies = policies.map((written) => new FilePolicy(written, overrides))
    // `address` takes the place of missing attributes
    this.attributes = [...new Set(['address', ...this.policies.flatMap(({ attributes }) => attributes)])]
    this.#replacing = replacersOf(this.policies)
    this.#failed = failed
  }

  /**
   * Returns the policies that apply to a request: all whose `match` and `when` fit it and whose rollout includes its
   * key, except those that one of the others replaces. The result has one entry for each policy of the file, in its
   * order; undefined for a policy that does not apply.
   */
  match(read: AttributeSource): readonly (MatchedPolicy | undefined)[] {
    const fitting = this.policies.map((policy): MatchedPolicy | undefined => {
      if (!policy.fits(read, this.#failed)) return undefined
      const key = keyOfParts(policy.key.partsOf(read))
      if (!isIncluded(policy.share, policy.name, key)) return undefined
      const plan = policy.planOf(read)
      return { policy, key, plan, limit: policy.limitOf(plan) }
    })
    return fitting.map((one, index) => {
      const isReplaced = this.#replacing[index].some((other) => fitting[other] !== undefined)
      return isReplaced ? undefined : one
    })
  }
}
