import { isPromise, type Permit, type PermitOutcome } from '@sluice/limiter-core/http'
import type { LimiterReport } from '../report/limiter-report.ts'

/** A permit, and the report that receives a failure of its release. */
export interface HeldPermit {
  readonly permit: Permit
  readonly report: LimiterReport
  /** Calls `release` when the work has taken as long as such work usually does, if the cap knows that. */
  readonly afterUsualTime?: ((release: () => void) => void) | undefined
}

/** Releases a permit. A custom backend may throw or reject, which is reported and must not stop the caller. */
export function releasePermit({ permit, report }: HeldPermit, outcome: PermitOutcome): void {
  const failed = (error: unknown): void => report.backendFailed(error, 'a permit could not be released')
  try {
    const released: unknown = permit.release(outcome)
    if (isPromise(released)) Promise.resolve(released).catch(failed)
  } catch (error) {
    failed(error)
  }
}
