import type { Decision } from './decision.ts'

export type ObserverEvent =
  | 'evicted'
  | 'tail'
  | 'keyFallback'
  | 'lateCharge'
  | 'hookFailed'
  | 'backendFailed'
  | 'breaker'
  | 'sync'
  | 'slowed'
  | 'saturated'
  | 'quota'

/** Watches, never changes an answer. One that throws is dropped and counted. */
export interface Observer {
  decided?(key: string, decision: Decision): void
  permitAcquired?(key: string): void
  permitReleased?(key: string, heldMs: number): void
  capDenied?(key: string): void
  event?(name: ObserverEvent, data: Readonly<Record<string, unknown>>): void
}
