import { compileHeaders, type HeaderEntry, type HeaderOptions, headerLines, policyItems, rateEntry } from '@sluice/http'
import type { Decision, PolicyVerdict } from '@sluice/limiter-core'
import { RequestDecision } from '@sluice/limiter-core/backend'

/** Current time for the legacy headers. */
export const WALL_MS = 1_767_225_600_000

export function decisionOf(...verdicts: readonly PolicyVerdict[]): Decision {
  return new RequestDecision({ verdicts, takenAt: 0, counted: true, source: 'memory' })
}

/** Returns the header fields of a limiter with these options for a decision. */
export function entryOf(decision: Decision, headers: HeaderOptions = {}): HeaderEntry {
  const enforced = decision.verdicts.filter(({ shadow }) => !shadow).map(({ policy }) => policy)
  return rateEntry(compileHeaders(headers), policyItems(enforced), decision)
}

export function linesOf(entries: readonly HeaderEntry[]): Record<string, string> {
  return Object.fromEntries(headerLines(entries, () => WALL_MS))
}
