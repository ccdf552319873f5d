import { isPromise, type PermitOutcome } from '@sluice/limiter-core/http'
import type { HeldPermit } from '../gates/caps/held-permit.ts'

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
