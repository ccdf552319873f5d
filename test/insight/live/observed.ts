import { EventEmitter } from 'node:events'
import type { Decision, ObservedRequest, Policy, RequestView } from '@sluice/limiter-core'

export const API: Policy = { name: 'api', algorithm: 'gcra', limit: 10, windowMs: 60_000 }

interface DecisionFacts {
  readonly policy?: Policy
  readonly allowed?: boolean
  readonly shadow?: boolean
  readonly counted?: boolean
  readonly remaining?: number
}

/** Creates a decision of one policy. */
export function decisionOf(facts: DecisionFacts = {}): Decision {
  const { policy = API, allowed = true, shadow = false, counted = true, remaining = 5 } = facts
  const binding = { policy, shadow, allowed, remaining, retryAfterMs: 0, resetAfterMs: 0, availableAfterMs: 0 }
  return { allowed, verdicts: [binding], binding, retryAfterMs: 0, takenAt: 0, counted, source: 'memory' }
}

/** Creates a request whose response ends when `end` is called. */
export function requestOf(route: string, ip = '192.0.2.1'): { request: ObservedRequest; end(): void } {
  const outgoing = new EventEmitter()
  const view: RequestView = { ip, method: 'GET', route, header: () => undefined, raw: {}, outgoing }
  return { request: { route, method: 'GET', request: {}, view }, end: () => void outgoing.emit('close') }
}
