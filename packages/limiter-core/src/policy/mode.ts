import { oneOf } from '../options/options.ts'

/** enforce denies; shadow counts as enforce does and denies nobody; off counts nothing. */
export type Mode = 'enforce' | 'shadow' | 'off'

const MODES: readonly Mode[] = ['enforce', 'shadow', 'off']

export function parseMode(value: unknown, option: string): Mode {
  return oneOf(option, value, MODES)
}

/**
 * The mode that is in force: `SLUICE_MODE` in the environment is a kill switch over everything that code says.
 * Read when a limiter is built. Of two modes in code the weaker holds: a limiter in shadow has no policy that denies.
 */
export function modeOf(outer: Mode | undefined, inner?: Mode): Mode {
  const forced = process.env.SLUICE_MODE
  if (forced) return parseMode(forced, 'SLUICE_MODE')
  return MODES[Math.max(MODES.indexOf(outer ?? 'enforce'), MODES.indexOf(inner ?? 'enforce'))]
}
