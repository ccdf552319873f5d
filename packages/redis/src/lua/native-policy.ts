import { algorithms, type CompiledPolicy } from '@sluice/limiter-core/backend'

/** Shortest window that is stored as an integer, whose end is rounded down by less than a millisecond. */
const MIN_WINDOW_MS = 1_000

/** Limits from here on have as many digits as the cells of a fixed window have bytes. */
const MAX_LIMIT = 1e15

const natives = new WeakMap<CompiledPolicy, CompiledPolicy>()
const known = new WeakSet<CompiledPolicy>()

/**
 * Returns the same policy, stored as an integer that the command INCREX can increment; undefined if the policy has
 * another algorithm than `fixed-window`, a window below one second or with fractions of a millisecond, or plans with
 * different algorithms.
 */
export function nativePolicy(compiled: CompiledPolicy): CompiledPolicy | undefined {
  const { policy, variants, holds, bookings, capacity } = compiled
  const { algorithm, windowMs } = policy
  if (variants || holds || bookings || algorithm !== 'fixed-window' || capacity >= MAX_LIMIT) return undefined
  if (!Number.isInteger(windowMs) || windowMs < MIN_WINDOW_MS) return undefined
  let native = natives.get(compiled)
  if (!native) {
    // a copy, because the same policy may also be opened on a backend without native commands
    native = algorithms[algorithm].compile(policy)
    natives.set(compiled, native)
    known.add(native)
  }
  return native
}

export function isNative(compiled: CompiledPolicy): boolean {
  return known.has(compiled)
}
