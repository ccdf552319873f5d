import { oneOf } from '../options/options.ts'

/** `enforce` denies; `shadow` counts in the same way and denies nothing; `off` counts nothing. */
export type Mode = 'enforce' | 'shadow' | 'off'

const MODES: readonly Mode[] = ['enforce', 'shadow', 'off']

export function parseMode(value: unknown, option: string): Mode {
  return oneOf(option, value, MODES)
}

/**
 * Returns the effective mode. The environment variable `SLUICE_MODE` overrides the code and is read when a limiter is
 * created. Of two modes in code the more permissive one applies: a limiter in shadow mode has no policy that denies.
 */
export function modeOf(outer: Mode | undefined, inner?: Mode): Mode {
  const forced = process.env.SLUICE_MODE
  if (forced) return parseMode(forced, 'SLUICE_MODE')
  return MODES[Math.max(MODES.indexOf(outer ?? 'enforce'), MODES.indexOf(inner ?? 'enforce'))]
}
