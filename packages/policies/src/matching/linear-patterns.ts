import { RE2JS } from 're2js'

/** Name of the function that takes the place of `matches`: regular expressions of JavaScript can take exponential time. */
export const LINEAR_MATCHES = 'matchesInLinearTime'

/** Patterns of the conditions in memory: the conditions of replaced documents, and their patterns, are collected. */
const patterns = new Map<string, WeakRef<RE2JS>>()

const collected = new FinalizationRegistry<string>((pattern) => {
  // it may have been compiled again
  if (patterns.get(pattern)?.deref() === undefined) patterns.delete(pattern)
})

/**
 * Returns a pattern that takes linear time. It stays compiled while the caller keeps it. Throws if it is not valid in the
 * syntax of RE2.
 */
export function compiledPattern(pattern: string): RE2JS {
  const known = patterns.get(pattern)?.deref()
  if (known) return known
  const compiled = RE2JS.compile(pattern)
  patterns.set(pattern, new WeakRef(compiled))
  collected.register(compiled, pattern)
  return compiled
}
