import { collapsedClients } from '@sluice/limiter-core/http'
import { boundedText } from '../bounded-text.ts'
import type { CollapsedSnapshot } from './report/snapshot.ts'

/** What the adapters of this process have found; undefined if nothing. The counted address is not shown. */
export function collapsedSnapshot(): CollapsedSnapshot | undefined {
  const found = collapsedClients()
  if (found === undefined) return undefined
  const reason = boundedText(found.reason)
  return found.trust === undefined ? { reason } : { reason, trust: boundedText(found.trust) }
}
