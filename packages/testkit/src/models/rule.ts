/** Model time counts in 1/1024 ms: whole, halved and fractional readings of a clock are exact in it. */
export const TICKS_PER_MS = 1_024n

/** The state of one key, and its rules. All times in ticks, all units integers. */
export interface Rule {
  fits(now: bigint, cost: bigint): boolean
  record(now: bigint, cost: bigint): void
  /** Returns the units that found their place. */
  adjust(now: bigint, units: bigint, takenAt: bigint): number
  resetAfterMs(now: bigint): number
}

/** Converts milliseconds to exact ticks; throws `RangeError` if that is impossible. */
export function ticksOf(ms: number): bigint {
  const ticks = ms * Number(TICKS_PER_MS)
  if (!Number.isSafeInteger(ticks))
    throw new RangeError(`expected a multiple of 1/1024 ms below 2^43, received ${ms} ms`)
  return BigInt(ticks)
}

/** Ms of a number of ticks; exact below 2^53 ticks. */
export function msOf(ticks: bigint): number {
  return Number(ticks) / Number(TICKS_PER_MS)
}

/** The whole part of a / b, towards -Infinity; `b` is positive. */
export function floorDivided(a: bigint, b: bigint): bigint {
  return a >= 0n ? a / b : -((-a + b - 1n) / b)
}

/** `units` more, never below 0. */
export function added(before: bigint, units: bigint): bigint {
  return before + units < 0n ? 0n : before + units
}
