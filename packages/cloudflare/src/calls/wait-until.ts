import { isWorker, runtimeWaitUntil, type WaitUntil } from '@sluice/fleet/backend'
import { badOption, optionalFunction } from '@sluice/limiter-core/backend'

/**
 * Returns `given`, or the function of the runtime. Throws `SLUICE_BAD_OPTION` if a Worker has neither: after an outage, its
 * isolates would never find the objects again, because the runtime cancels their probes.
 */
export function waitUntilOf(given: WaitUntil | undefined): WaitUntil | undefined {
  optionalFunction('durableObjectBackend: waitUntil', given)
  const found = given ?? runtimeWaitUntil()
  if (found || !isWorker()) return found
  const expected = 'the waitUntil of cloudflare:workers, because this Worker does not have the flag nodejs_compat'
  throw badOption('durableObjectBackend: waitUntil', given, expected)
}
