import { type ReportedUsage as RemoteUsage, reportedNumbers } from '@sluice/fleet/backend'

/** Usage that a caller knows, as a script receives it. `usedAt` is a time of this server, or of its predecessor. */
export interface ReportedUsage extends RemoteUsage {
  /** Time of the reply to the call in which the server reported `used`. */
  readonly repliedAt: number
}

/** Value of `usedAt` for usage that must always be restored: later than any time. */
export const ALWAYS: number = 2 ** 52

/** Returns the arguments that `readKnown` in `make-good.lua` reads. */
export function reportArgs(usage: ReportedUsage): number[] {
  const [used, resetAfterMs, usedAt, ...admitted] = reportedNumbers(usage)
  return [used, usage.held ?? 0, resetAfterMs, Math.min(usedAt, ALWAYS), usage.repliedAt, ...admitted]
}
