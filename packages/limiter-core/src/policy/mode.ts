import { oneOf } from '../options/options.ts'
import { nodeProcess } from '../process/built-in.ts'

/** `enforce` counts and denies; `shadow` counts in the same way but denies nothing; `off` does not count. */
export type Mode = 'enforce' | 'shadow' | 'off'

export const MODES: readonly Mode[] = ['enforce', 'shadow', 'off'] // the most permissive last

export function parseMode(value: unknown, option: string): Mode {
  return oneOf(option, value, MODES)
}

/**
 * Returns the effective mode of a limiter or policy: the environment variable `SLUICE_MODE` if it is set, otherwise the
 * more permissive of `outer` (the limiter) and `inner` (the policy). Default: `enforce`. Throws `SLUICE_BAD_OPTION` if
 * `SLUICE_MODE` has another value.
 */
export function modeOf(outer: Mode | undefined, inner?: Mode): Mode {
  const forced = nodeProcess?.env.SLUICE_MODE
  if (forced) return parseMode(forced, 'SLUICE_MODE')
  return mostPermissive([outer, inner]) ?? 'enforce'
}

/** Returns the most permissive of the modes; undefined if all are undefined. */
export function mostPermissive(modes: readonly (Mode | undefined)[]): Mode | undefined {
  return MODES.findLast((mode) => modes.includes(mode))
}
