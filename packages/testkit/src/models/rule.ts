/** Model time counts in 1/1024 ms: whole, halved and fractional readings of a clock are exact in it. */
export const TICKS_PER_MS = 1_024n

/** What is written down of one key, and what follows from it. All times in ticks, all units whole. */
export interface Rule {
  fits(now: bigint, cost: bigint): boolean
  record(now: bigint, cost: bigint): void
  /** Returns the units that found their place. */
  adjust(now: bigint, units: bigint, takenAt: bigint): number
  resetAfterMs(now: bigint): number
}

/** Exact ticks of a time in ms; throws `RangeError` where there are none. */
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
