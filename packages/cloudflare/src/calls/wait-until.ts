import { badOption, optionalFunction } from '@sluice/limiter-core/backend'

/** Keeps the current request of a Worker running until `work` has settled, after its response has been sent. */
export type WaitUntil = (work: Promise<unknown>) => void

const WORKERS = 'Cloudflare-Workers'

/**
 * Returns `given`, or the function of the runtime. Throws `SLUICE_BAD_OPTION` if a Worker has neither: after an outage, its
 * isolates would never find the objects again, because the runtime cancels their probes.
 */
export function waitUntilOf(given: WaitUntil | undefined): WaitUntil | undefined {
  optionalFunction('durableObjectBackend: waitUntil', given)
  const found = given ?? runtimeWaitUntil()
  const { navigator } = globalThis as { readonly navigator?: { readonly userAgent?: string } }
  if (found || navigator?.userAgent !== WORKERS) return found
  const expected = 'the waitUntil of cloudflare:workers, because this Worker does not have the flag nodejs_compat'
  throw badOption('durableObjectBackend: waitUntil', given, expected)
}

/**
 * Returns `waitUntil` of the module `cloudflare:workers`; undefined in other runtimes, and in Workers without the
 * compatibility flag `nodejs_compat`. The module is not imported, so that this package also loads in Node.js.
 */
function runtimeWaitUntil(): WaitUntil | undefined {
  const runtime = globalThis.process as Partial<NodeJS.Process> | undefined
  const module: unknown = runtime?.getBuiltinModule?.('cloudflare:workers')
  return (module as { readonly waitUntil?: WaitUntil } | undefined)?.waitUntil
}
