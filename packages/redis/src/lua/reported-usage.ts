/** What a script is told of a key; times are of the server. */
export interface ReportedUsage {
  /** 0 where the server knows of it. */
  readonly used: number
  readonly resetAfterMs: number
  /** When the server, or the one before it, told `used`. */
  readonly usedAt: number
  readonly uncounted: number
  readonly unsure: number
  readonly upTo: number
  /** When the last unit was admitted that was not counted. */
  readonly admittedAt: number
}

/** Of what is believed whenever it was heard: later than any time. */
export const ALWAYS: number = 2 ** 52

/** As `make-good.lua` reads them. */
export function reportArgs({
  used,
  resetAfterMs,
  usedAt,
  uncounted,
  unsure,
  upTo,
  admittedAt,
}: ReportedUsage): number[] {
  return [used, resetAfterMs, usedAt, uncounted, unsure, upTo, admittedAt]
}
