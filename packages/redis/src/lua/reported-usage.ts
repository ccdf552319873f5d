/** What to report about a key; times are server times. */
export interface ReportedUsage {
  /** 0 if the server knows it. */
  readonly used: number
  readonly resetAfterMs: number
  /** When this server, or the previous one, reported `used`. */
  readonly usedAt: number
  readonly uncounted: number
  readonly unsure: number
  readonly upTo: number
  /** When the last unit was admitted that was not counted. */
  readonly admittedAt: number
}

/** Time of knowledge that is always trusted: later than any other. */
export const ALWAYS: number = 2 ** 52

/** Returns the arguments as `make-good.lua` reads them. */
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
