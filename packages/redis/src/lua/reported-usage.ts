/** `PriorUsage` of a key as a script receives it, with times on the server's clock. */
export interface ReportedUsage {
  /** Units that a server once reported as used; 0 if the server still counts them. */
  readonly used: number
  readonly resetAfterMs: number
  /** Time of the call in which this server, or its predecessor, reported `used`. */
  readonly usedAt: number
  /** Time of the reply to that call. */
  readonly repliedAt: number
  /** `uncounted`, `unsure` and `upTo` of `AdmittedUnits`. */
  readonly uncounted: number
  readonly unsure: number
  readonly upTo: number
  /** Time of the last unit that was admitted without the server; 0 if there is none. */
  readonly admittedAt: number
}

/** Value of `usedAt` for usage that must always be restored: later than any time. */
export const ALWAYS: number = 2 ** 52

/** Returns the arguments that `readKnown` in `make-good.lua` reads. */
export function reportArgs({
  used,
  resetAfterMs,
  usedAt,
  repliedAt,
  uncounted,
  unsure,
  upTo,
  admittedAt,
}: ReportedUsage): number[] {
  return [used, resetAfterMs, usedAt, repliedAt, uncounted, unsure, upTo, admittedAt]
}
