import { badOption, optionsOf } from '@sluice/limiter-core/http'

/** The values of a signal between which the pressure rises from 0 to 1. */
export interface SignalRange {
  /** Value up to which the pressure is 0. */
  readonly from: number
  /** Value from which the pressure is 1, above `from`. */
  readonly to: number
}

/** A number is `from`, with a default `to` that depends on the signal. */
export type SignalThreshold = number | { readonly from: number; readonly to?: number | undefined }

/**
 * Returns the range of an option. `most` is the largest possible value of the signal. Throws `SLUICE_BAD_OPTION` unless
 * 0 < `from` < `to` <= `most`.
 */
export function rangeOf(
  option: string,
  threshold: SignalThreshold,
  defaultTo: (from: number) => number,
  most: number = Number.MAX_SAFE_INTEGER,
): SignalRange {
  const { from, to }: { readonly from: number; readonly to?: number | undefined } =
    typeof threshold === 'number' ? { from: threshold } : optionsOf(option, threshold, ['from', 'to'])
  const start = typeof threshold === 'number' ? option : `${option}.from`
  if (!isBetween(from, 0, most)) throw badOption(start, from, `a number above 0 and below ${most}`)
  const end = to ?? Math.min(most, defaultTo(from))
  if (!isBetween(end, from, most) && end !== most) {
    throw badOption(`${option}.to`, to, `a number above ${from} (from) and at most ${most}`)
  }
  return { from, to: end }
}

/** Returns the position of a value, such as its pressure: from 0, up to `from`, to 1, from `to` on. */
export function positionIn({ from, to }: SignalRange, value: number): number {
  return Math.max(0, Math.min(1, (value - from) / (to - from)))
}

function isBetween(value: unknown, above: number, below: number): value is number {
  return typeof value === 'number' && value > above && value < below
}
