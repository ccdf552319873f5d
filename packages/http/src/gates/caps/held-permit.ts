import type { Clock, LearnedLimits, Permit } from '@sluice/limiter-core/http'
import type { LimiterReport } from '../../report/limiter-report.ts'

/** A permit, and the report that receives a failure of its release. */
export interface HeldPermit {
  readonly permit: Permit
  readonly report: LimiterReport
  /** Calls `release` when the work has taken as long as such work usually does, if the cap knows that. */
  readonly afterUsualTime?: ((release: () => void) => void) | undefined
}

/** How long work takes whose client left, in ms, as long as no work has been completed. */
const UNKNOWN_MS = 1_000

/** Returns a function that calls `release` when work that begins now has taken as long as work of its key usually does. */
export function afterUsualTime(learned: LearnedLimits, key: string, clock: Clock): HeldPermit['afterUsualTime'] {
  const startedAt = clock.now()
  return (release) => {
    const leftMs = (learned.usualMsOf?.(key) || UNKNOWN_MS) - (clock.now() - startedAt)
    if (leftMs > 0) clock.after(Math.ceil(leftMs), release)
    else release()
  }
}
