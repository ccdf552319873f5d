import { RE2JS } from 're2js'

/** Name of the function that takes the place of `matches`: regular expressions of JavaScript can take exponential time. */
export const LINEAR_MATCHES = 'matchesInLinearTime'

/** Patterns of the conditions in memory: the conditions of replaced documents, and their patterns, are collected. */
const patterns = new Map<string, WeakRef<RE2JS>>()

let registry: FinalizationRegistry<string> | undefined

/** Forgets a pattern when it has been collected. */
function forgetCollected(pattern: string, compiled: RE2JS): void {
  registry ??= new FinalizationRegistry((text) => {
    // it may have been compiled again
    if (patterns.get(text)?.deref() === undefined) patterns.delete(text)
  })
  registry.register(compiled, pattern)
}

/**
 * Returns a pattern that takes linear time. It stays compiled while the caller keeps it. Throws if it is not valid in the
 * syntax of RE2.
 */
export function compiledPattern(pattern: string): RE2JS {
  const known = patterns.get(pattern)?.deref()
  if (known) return known
  const compiled = RE2JS.compile(pattern)
  patterns.set(pattern, new WeakRef(compiled))
  forgetCollected(pattern, compiled)
  return compiled
}
