import { RE2JS } from 're2js'

/** Name of the function that takes the place of `matches`: regular expressions of JavaScript can take exponential time. */
export const LINEAR_MATCHES = 'matchesInLinearTime'

const patterns = new Map<string, RE2JS>()

/** Returns a pattern that takes linear time. Throws if it is not valid in the syntax of RE2. */
export function compiledPattern(pattern: string): RE2JS {
  const compiled = patterns.get(pattern) ?? RE2JS.compile(pattern)
  patterns.set(pattern, compiled)
  return compiled
}
