import {
  algorithms,
  type CompiledPolicy,
  CompiledVariants,
  type Policy,
  type PolicyVariant,
} from '@sluice/limiter-core/backend'

/** A compiled policy as data, which another process can compile again. */
export interface SentPolicy {
  readonly policy: Policy
  readonly cells: number
  /** Set for a policy with several variants. */
  readonly variants?: readonly SentVariant[] | undefined
}

interface SentVariant extends Omit<PolicyVariant, 'compiled'> {
  readonly policy: Policy
  readonly cells: number
}

/** Returns a compiled policy as data. */
export function sentPolicyOf({ policy, cells, variants }: CompiledPolicy): SentPolicy {
  if (!variants) return { policy, cells }
  const sent = variants.map(({ compiled, ...variant }) => ({
    ...variant,
    policy: compiled.policy,
    cells: compiled.cells,
  }))
  return { policy, cells, variants: sent }
}

/** Compiles a received policy. Throws if the policy is invalid. */
export function compiledOf({ policy, cells, variants }: SentPolicy): CompiledPolicy {
  if (!variants) return compiledAlone({ policy, cells }, false)
  return new CompiledVariants(
    variants.map(({ policy: own, cells: size, ...variant }) => ({
      ...variant,
      compiled: compiledAlone({ policy: own, cells: size }, true),
    })),
  )
}

function compiledAlone(
  { policy, cells }: Pick<SentPolicy, 'policy' | 'cells'>,
  chargedBeside: boolean,
): CompiledPolicy {
  const { compile } = algorithms[policy.algorithm]
  const compiled = compile(policy, policy.limit, chargedBeside)
  // a sliding log that is shared by several plans has a cell for each unit of the largest plan
  return compiled.cells === cells ? compiled : compile(policy, policy.limit + cells - compiled.cells, chargedBeside)
}
