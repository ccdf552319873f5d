import { isPromise, type LimiterReport, type Permit, type PermitOutcome } from '@sluice/limiter-core/http'

/** A permit, and who hears where it is not taken back. */
export interface HeldPermit {
  readonly permit: Permit
  readonly report: LimiterReport
}

/** Gives a permit back. One of a backend of the user's may throw or reject, which must end nobody else's work. */
export function releasePermit({ permit, report }: HeldPermit, outcome: PermitOutcome): void {
  const failed = (error: unknown): void => report.backendFailed(error, 'a permit was not taken back')
  try {
    const released: unknown = permit.release(outcome)
    if (isPromise(released)) Promise.resolve(released).catch(failed)
  } catch (error) {
    failed(error)
  }
}
