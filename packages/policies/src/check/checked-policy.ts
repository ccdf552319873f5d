import type { AlgorithmName, Policy } from '@sluice/limiter-core'
import { algorithms, compilePolicy, type Duration } from '@sluice/limiter-core/backend'
import type { PolicyDocument, WrittenPolicy } from '../document/policy-document.ts'
import { byPolicy, largestLimit } from '../matching/file-overrides.ts'
import { FilePolicy } from '../matching/file-policy.ts'
import type { Path } from '../parse/positions.ts'

/** A limit of a policy: the limit itself, the limit of a plan, or an override. */
export interface PlacedLimit {
  readonly limit: number
  readonly at: Path
  readonly plan?: string
}

/** A policy with the values that its omitted fields stand for. */
export interface CheckedPolicy {
  readonly name: string
  readonly written: WrittenPolicy
  /** The policy without its condition, which is not evaluated. */
  readonly file: FilePolicy
  /** Path of the policy in the document. */
  readonly at: Path
  /** Attributes that are counted together. */
  readonly key: readonly string[]
  readonly unit: string
  readonly mode: 'enforce' | 'shadow' | 'off'
  /** Share of the keys to which the policy applies, from 0 to 1. */
  readonly rollout: number
  readonly algorithm: AlgorithmName
  /** The limit, or one limit for each plan. */
  readonly limits: readonly PlacedLimit[]
  readonly overrides: readonly PlacedLimit[]
}

/** Returns the policies of a document in their order. */
export function checkedPolicies({ policies, overrides = [] }: PolicyDocument): CheckedPolicy[] {
  const overridesOf = byPolicy(
    overrides.map(({ policy, limit }, place) => ({ policy, limit, at: ['overrides', place, 'limit'] })),
  )
  return policies.map((written, index) => {
    const at = ['policies', index]
    const limits = limitsOf(written, [...at, 'limit'])
    const own = overridesOf(written.name)
    const { when: _condition, ...unconditional } = written
    const file = new FilePolicy(unconditional, [])
    const { name, unit = 'requests', mode = 'enforce' } = written
    return {
      ...{ name, written, file, at, unit, mode, limits },
      key: file.key.names,
      rollout: file.share,
      algorithm: algorithmOf(written, [...limits, ...own]),
      overrides: own,
    }
  })
}

/**
 * Returns the policy that a limiter would use with one of its limits. Throws a `SluiceError` if a limiter refuses the
 * policy.
 */
export function compiledWith({ written, algorithm }: CheckedPolicy, limit: number): Policy {
  const { name, per, burst, slices, unit } = written
  const policy = compilePolicy({
    ...{ name, limit, algorithm, window: per as Duration },
    ...(burst !== undefined && { burst }),
    ...(slices !== undefined && { slices }),
    ...(unit !== undefined && { unit }),
  })
  return algorithms[algorithm].compile(policy).policy
}

function limitsOf({ limit }: WrittenPolicy, at: Path): PlacedLimit[] {
  if (typeof limit === 'number') return [{ limit, at }]
  return Object.entries(limit).map(([plan, units]) => ({ limit: units, plan, at: [...at, plan] }))
}

/** Returns the written algorithm, or the default, which the largest of all limits determines. */
function algorithmOf({ algorithm, slices }: WrittenPolicy, limits: readonly PlacedLimit[]): AlgorithmName {
  if (algorithm !== undefined) return algorithm
  const limit = largestLimit(limits)
  return slices === undefined ? compilePolicy({ limit, window: '1m' }).algorithm : 'sliding-window'
}
