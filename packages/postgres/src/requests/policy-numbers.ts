import type { CompiledPolicy } from '@sluice/limiter-core/backend'
import { KINDS, type SqlAlgorithm } from '../functions/kinds.ts'

/** Numbers of the roles of variants in SQL. */
const ROLES = { own: 0, larger: 1, charged: 2 } as const
/** Cells that holds add to those of a policy. */
const HELD_CELLS = 10

const numbersByPolicy = new WeakMap<CompiledPolicy, readonly number[]>()

/**
 * Returns the numbers of a policy that the SQL functions read as `p`. All begin with the kind, the capacity, and the
 * smallest and largest number of cells. Then follow:
 *
 * - for a policy without variants: windowMs, limit, the number of slices or the room of a log, and whether other variants
 *   charge the same cells;
 * - for a policy with variants: their number, and for each its role, perMs, ceiling and eight numbers;
 * - for a policy with holds: the length of a slice in ms, and the numbers of the policy.
 */
export function policyNumbers(compiled: CompiledPolicy): readonly number[] {
  let numbers = numbersByPolicy.get(compiled)
  if (!numbers) {
    numbers = numbersOf(compiled)
    numbersByPolicy.set(compiled, numbers)
  }
  return numbers
}

/** Returns the algorithm of a policy; undefined for a policy that is made of other policies. */
export function soleAlgorithm(compiled: CompiledPolicy): SqlAlgorithm | undefined {
  return compiled.holds || compiled.variants ? undefined : algorithmOf(compiled)
}

function numbersOf(compiled: CompiledPolicy): readonly number[] {
  const { holds, variants, capacity } = compiled
  if (holds) {
    const numbers = policyNumbers(holds.inner)
    const [, , least, most] = numbers
    return [KINDS.holding, capacity, HELD_CELLS + least, HELD_CELLS + most, holds.sliceMs, ...numbers]
  }
  return variants ? variantsNumbers(compiled) : plainNumbers(compiled, false)
}

function variantsNumbers({ capacity, variants = [] }: CompiledPolicy): readonly number[] {
  const each = variants.flatMap(({ compiled, role, perMs, ceiling }) => [
    ROLES[role],
    perMs,
    ceiling,
    ...plainNumbers(compiled, true),
  ])
  return [KINDS.variants, capacity, 0, Number.POSITIVE_INFINITY, variants.length, ...each]
}

/** `beside`: whether other variants charge the same cells without checking this policy. */
function plainNumbers(compiled: CompiledPolicy, beside: boolean): readonly number[] {
  const { policy, capacity, room } = compiled
  // a log has as many cells as timestamps
  const cells = room === undefined ? [compiled.cells, compiled.cells] : [0, Number.POSITIVE_INFINITY]
  const { windowMs, limit, slices = 1 } = policy
  return [KINDS[algorithmOf(compiled)], capacity, ...cells, windowMs, limit, room ?? slices, beside ? 1 : 0]
}

function algorithmOf({ policy: { algorithm, slices = 1 } }: CompiledPolicy): SqlAlgorithm {
  if (algorithm !== 'sliding-window') return algorithm
  return slices > 1 ? 'sliced-window' : 'two-epoch-window'
}
