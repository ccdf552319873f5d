import {
  algorithms,
  type CompiledPolicy,
  CompiledVariants,
  HoldingPolicy,
  type Policy,
  type PolicyVariant,
} from '@sluice/limiter-core/backend'

/** A compiled policy as data, which another process can compile again. */
export interface SentPolicy {
  readonly policy: Policy
  /** Maximum number of timestamps of a log, which may be that of another plan; undefined for other algorithms. */
  readonly room?: number | undefined
  /** Set for a policy with several variants. */
  readonly variants?: readonly SentVariant[] | undefined
  /** `sliceMs` of a policy whose units can be held. */
  readonly holdSliceMs?: number | undefined
}

interface SentVariant extends Omit<PolicyVariant, 'compiled'> {
  readonly policy: Policy
  readonly room?: number | undefined
}

/** Returns a compiled policy as data. */
export function sentPolicyOf({ policy, room, variants, holds }: CompiledPolicy): SentPolicy {
  const held = holds && { holdSliceMs: holds.sliceMs }
  if (!variants) return { policy, room, ...held }
  const sent = variants.map(({ compiled, ...variant }) => ({
    ...variant,
    policy: compiled.policy,
    room: compiled.room,
  }))
  return { policy, variants: sent, ...held }
}

/** Compiles a received policy. Throws if the policy is invalid. */
export function compiledOf({ holdSliceMs, ...sent }: SentPolicy): CompiledPolicy {
  const plain = plainPolicyOf(sent)
  return holdSliceMs === undefined ? plain : new HoldingPolicy(plain, holdSliceMs)
}

function plainPolicyOf({ policy, room, variants }: SentPolicy): CompiledPolicy {
  if (!variants) return algorithms[policy.algorithm].compile(policy, room)
  return new CompiledVariants(
    variants.map(({ policy: own, room: most, ...variant }) => {
      // a log that is charged beside others has room for one timestamp more than the largest limit
      const largestLimit = most === undefined ? undefined : most - 1
      return { ...variant, compiled: algorithms[own.algorithm].compile(own, largestLimit, true) }
    }),
  )
}
