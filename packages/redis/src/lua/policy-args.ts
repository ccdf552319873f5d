import type { CompiledPolicy, PolicyVariant } from '@sluice/limiter-core'
import { isNative } from './native-policy.ts'

/**
 * Algorithms of the Lua scripts. `sliding-window` is `two-epoch-window` or, with several slices, `sliced-window`.
 * `native-window` is `fixed-window`, stored as an integer for the command INCREX.
 */
export type LuaAlgorithm =
  | 'fixed-window'
  | 'native-window'
  | 'two-epoch-window'
  | 'sliced-window'
  | 'sliding-log'
  | 'token-bucket'
  | 'gcra'

/** A policy that adds cells to another policy. */
export type LuaFacet = 'holding' | 'booking'

/** An algorithm, or a policy that is made of others. */
export type LuaConstructor = LuaAlgorithm | 'variants' | LuaFacet

/** Algorithm and constants of a policy, in the order in which the Lua code reads them. */
type PolicyArgs = readonly [LuaConstructor, ...string[]]

/** Lua names of the constants of each algorithm, in the order of `policyArgs`. */
export const constantNames: Readonly<Record<LuaAlgorithm, readonly string[]>> = {
  'fixed-window': ['capacity', 'windowMs'],
  'native-window': ['capacity', 'windowMs'],
  'two-epoch-window': ['capacity', 'windowMs'],
  'sliced-window': ['capacity', 'windowMs', 'sliceCount'],
  'sliding-log': ['capacity', 'windowMs', 'room', 'beside'],
  'token-bucket': ['capacity', 'windowMs', 'limit'],
  gcra: ['capacity', 'windowMs', 'limit'],
}

const argsByPolicy = new WeakMap<CompiledPolicy, PolicyArgs>()

/** Returns the script arguments of a policy, computed once. */
export function policyArgs(compiled: CompiledPolicy): PolicyArgs {
  let args = argsByPolicy.get(compiled)
  if (!args) {
    args = argsOf(compiled)
    argsByPolicy.set(compiled, args)
  }
  return args
}

/** Returns the algorithms that a script needs for a policy and its variants. */
export function algorithmsOf(compiled: CompiledPolicy): readonly LuaConstructor[] {
  const [name] = policyArgs(compiled)
  const { inner } = compiled.bookings ?? compiled.holds ?? {}
  if (inner) return [name, ...algorithmsOf(inner)]
  return [name, ...(compiled.variants ?? []).flatMap((variant) => algorithmsOf(variant.compiled))]
}

/** Returns the algorithm of a policy without variants, holds and bookings. */
export function algorithmOf(compiled: CompiledPolicy): LuaAlgorithm {
  return policyArgs(compiled)[0] as LuaAlgorithm
}

function argsOf(compiled: CompiledPolicy): PolicyArgs {
  const { holds, bookings, variants } = compiled
  // turns are around holds
  if (bookings) {
    const { most, paceMs, longestMs, isWeighted, inner } = bookings
    return ['booking', String(most), String(paceMs), String(longestMs), isWeighted ? '1' : '0', ...policyArgs(inner)]
  }
  if (holds) return ['holding', String(holds.sliceMs), ...policyArgs(holds.inner)]
  return variants ? variantsArgs(variants) : plainArgs(compiled, false)
}

function variantsArgs(all: readonly PolicyVariant[]): PolicyArgs {
  const each = all.flatMap(({ compiled, role, perMs, ceiling }) => [
    role,
    String(perMs),
    String(ceiling),
    ...plainArgs(compiled, true),
  ])
  return ['variants', String(all.length), ...each]
}

/** `beside`: whether other variants charge the same cells without checking this policy. */
function plainArgs(compiled: CompiledPolicy, beside: boolean): readonly [LuaAlgorithm, ...string[]] {
  const [algorithm, ...constants] = constantsOf(compiled, beside)
  return [algorithm, ...constants.map(String)]
}

function constantsOf(compiled: CompiledPolicy, beside: boolean): readonly [LuaAlgorithm, ...number[]] {
  const { policy, capacity, room = capacity } = compiled
  const { algorithm, limit, windowMs, slices = 1 } = policy
  if (algorithm === 'sliding-log') return [algorithm, capacity, windowMs, room, beside ? 1 : 0]
  if (algorithm === 'token-bucket' || algorithm === 'gcra') return [algorithm, capacity, windowMs, limit]
  if (algorithm === 'fixed-window') return [isNative(compiled) ? 'native-window' : algorithm, capacity, windowMs]
  return slices > 1 ? ['sliced-window', capacity, windowMs, slices] : ['two-epoch-window', capacity, windowMs]
}
