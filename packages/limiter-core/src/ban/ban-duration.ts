import { badOption } from '../errors/bad-option.ts'
import { SluiceError } from '../errors/errors.ts'
import { parseDuration } from '../time/duration.ts'
import { banMs, topLevelOf } from './ban-length.ts'
import type { OpenBan } from './open-ban.ts'

/** Returns the milliseconds of a ban. Throws `SLUICE_BAD_DURATION`, `SLUICE_BAD_OPTION` if no policy bans so long. */
export function banDurationMs(duration: unknown, bans: readonly OpenBan[]): number {
  const ms = parseDuration(duration, 'ban')
  if (bans.length === 0) {
    const example = "ban: { after: 20, within: '1m', for: '10m' }"
    throw new SluiceError('SLUICE_BAD_OPTION', `ban: expected a policy with a ban, such as ${example}`)
  }
  for (const { policy, terms, isSlotted } of bans) {
    // there are time slots for the durations that bans reach by growth
    const longestMs = isSlotted ? banMs(terms, topLevelOf(terms)) : terms.maxMs
    if (ms > longestMs)
      throw badOption('ban', duration, `at most ${longestMs} ms, the longest ban of policy '${policy}'`)
  }
  return ms
}
