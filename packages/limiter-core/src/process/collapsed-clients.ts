import { processWide } from './process-wide.ts'

/** Many clients that are counted as one, because a proxy is not trusted. */
export interface CollapsedClients {
  /** The address that is counted. */
  readonly address: string
  /** Why it is not a client, in words. */
  readonly reason: string
  /** What to do about it, in words. */
  readonly advice: string
  /** The value of the option `trust` that probably corrects it; undefined if no value does. */
  readonly trust?: string | undefined
}

const KEY = Symbol.for('sluice.collapsedClients')
let shared: { found: CollapsedClients | undefined } | undefined

/** What the adapters of this process have found; undefined if nothing. */
export function collapsedClients(): CollapsedClients | undefined {
  shared ??= processWide(KEY, () => ({ found: undefined }))
  return shared.found
}

/** Pass undefined to forget it, in tests. */
export function recordCollapsedClients(found: CollapsedClients | undefined): void {
  shared ??= processWide(KEY, () => ({ found: undefined }))
  shared.found = found
}
