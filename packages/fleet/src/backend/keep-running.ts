/** Keeps the current request of a Worker running until `work` has settled, after its response has been sent. */
export type WaitUntil = (work: Promise<unknown>) => void

/** Whether this is an isolate of Cloudflare Workers, where calls and timers end with the request that made them. */
export function isWorker(): boolean {
  const { navigator } = globalThis as { readonly navigator?: { readonly userAgent?: string } }
  return navigator?.userAgent === 'Cloudflare-Workers'
}

/**
 * Returns `waitUntil` of the module `cloudflare:workers`; undefined in other runtimes, and in Workers without the
 * compatibility flag `nodejs_compat`. The module is not imported, so that packages also load in Node.js.
 */
export function runtimeWaitUntil(): WaitUntil | undefined {
  const runtime = globalThis.process as Partial<NodeJS.Process> | undefined
  const module: unknown = runtime?.getBuiltinModule?.('cloudflare:workers')
  return (module as { readonly waitUntil?: WaitUntil } | undefined)?.waitUntil
}

/** Lets the runtime finish work that no caller awaits, such as refunds and probes. */
export function keepRunning(waitUntil: WaitUntil | undefined, work: Promise<unknown>): void {
  try {
    waitUntil?.(work)
  } catch {
    // not within a request of a Worker
  }
}
