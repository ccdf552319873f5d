import type { QuotaAccount } from '../account/quota-account.ts'
import { END_OF_TIME } from '../calendar/endless-period.ts'

/**
 * Splits units over parts, in order, none of which receives more than it has room for. Returns undefined if they do not
 * fit all together.
 */
export function splitUnits(rooms: readonly number[], units: number): readonly number[] | undefined {
  let left = units
  const split = rooms.map((room) => {
    const part = Math.min(room, left)
    left -= part
    return part
  })
  return left === 0 ? split : undefined
}

/**
 * Splits units that are given back of a take over its parts, the last part first. `before` units of the take were given
 * back earlier.
 */
export function splitRefund(taken: readonly number[], before: number, units: number): readonly number[] {
  const refunded = (sum: number): readonly number[] => splitUnits(taken.toReversed(), sum) ?? taken.toReversed()
  const earlier = refunded(before)
  return refunded(before + units)
    .map((part, index) => part - earlier[index])
    .toReversed()
}

/**
 * Returns the whole milliseconds until units fit if nothing else is taken: until enough periods, reservations and holds
 * have ended. 0 if they fit now, Infinity if that never suffices.
 */
export function waitUntilFit(accounts: readonly QuotaAccount[], units: number): number {
  const roomAt = (at: number): number => accounts.reduce((sum, one) => sum + one.freeAt(at), 0)
  const [{ now }] = accounts
  const ends = accounts
    .flatMap(({ current, reservations, holds }) => {
      return [current.endsAt, ...reservations.map(({ endsAt }) => endsAt), ...holds.endsAfter(now)]
    })
    .filter((end) => end < END_OF_TIME)
  const fits = [now, ...ends.toSorted((one, other) => one - other)].find((at) => roomAt(at) >= units)
  return fits === undefined ? Number.POSITIVE_INFINITY : Math.ceil(fits - now)
}
