import type { Batch, Known, Process, SyncState } from './sync-state.ts'

/** The rules that count each unit once. */
export const SYNC_RULES = {
  /** Whether batches before this one are missing, so that the ledger may have lost data. */
  isLost: ({ number, isAfterLoss }: Batch, last: number): boolean => number > last + 1 && !isAfterLoss,
  isNew: ({ number }: Batch, last: number): boolean => number > last,
  /** Units of a report of usage that the ledger lacks. */
  missing: (known: Known, reported: NonNullable<SyncState['reported']>): number =>
    known.at > reported.since ? 0 : Math.max(0, known.used - reported.used),
  /** Usage that a process reports after a loss: without units that no reply contains. */
  reported: ({ used, waiting, batch }: Process): number => used - waiting - (batch?.units ?? 0),
  /** Usage after a reply, with the units of this process that it does not contain. */
  adopted: (counted: number, { waiting }: Process): number => counted + waiting,
  /** Number of a batch that is sent again. */
  numberAgain: (number: number): number => number,
  /** Number of the last batch after the ledger has lost its counts. */
  lastAfterLoss: (_last: number): number => 0,
  /** Whether a reply may arrive although the ledger has lost the write. */
  losesWrites: false,
}

/**
 * A process admits no more than the limit, and never knows of fewer units than before. The ledger counts each unit once:
 * no unit twice, except units whose reply was lost together with the data, and without a loss and when nothing is under
 * way, all units except those that a killed process had not reported (docs/global-limiter.md).
 */
export function syncViolation(
  { counted, doubt, losses, unreported, processes: all }: SyncState,
  limit: number,
  allLosses: number,
): string | undefined {
  const admitted = all.reduce((sum, { own }) => sum + own, 0)
  for (const [at, { isAlive, own, used, waiting, confirmed }] of all.entries()) {
    if (own > limit) return `process ${at} has admitted ${own} units of ${limit}`
    if (isAlive && used - waiting < confirmed)
      return `process ${at} knew of ${confirmed} units, and now of ${used - waiting}`
  }
  if (counted > admitted + doubt) return `${counted} units counted, ${admitted} admitted, ${doubt} in doubt`
  const isQuiet = all.every(({ waiting, batch, batches }) => waiting === 0 && !batch && batches.length === 0)
  const least = losses < allLosses ? 0 : admitted - unreported
  return isQuiet && counted < least
    ? `${counted} units counted, ${admitted} admitted, ${unreported} lost by kills`
    : undefined
}
