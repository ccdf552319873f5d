import { type Answer, type Charge, IDEMPOTENT_MS, type PriorUsage } from '@sluice/limiter-core/backend'
import type { TimedRequest } from './timed-request.ts'

export type RemoteOperation = 'take' | 'peek' | 'adjust' | 'reset'

/** A request of a backend call, and the functions that settle its promise. */
export interface RemoteRequest extends TimedRequest {
  readonly operation: RemoteOperation
  /** Charges of one group, see `RemoteBackendDeps.groupOf`. */
  readonly charges: readonly Charge[]
  /** Name of the stored count of each charge. */
  readonly names: readonly string[]
  /** Time of the take that is adjusted, in server time; 0 for other operations. */
  readonly takenAt: number
  /** Idempotency id of an adjustment or reset that may be sent again; '' if there is none. */
  readonly id: string
  /** Time of the request on the process clock. */
  readonly requestedAt: number
  readonly resolve: (answer: Answer) => void
}

/** Returns the usage that a request reports with a charge; undefined for none. */
export function knownOf({ operation }: RemoteRequest, { known }: Charge): PriorUsage | undefined {
  return operation === 'take' || operation === 'adjust' ? known : undefined
}

/** Usage that a caller knows, with times of the server. */
export interface ReportedUsage extends Pick<PriorUsage, 'used' | 'held' | 'resetAfterMs' | 'admitted'> {
  /** Time of the report; Infinity for usage that is always restored. */
  readonly usedAt: number
  readonly admittedAt: number
}

/** Converts usage that a caller knew `ageMs` before a time of the server. `timeAgo` must never be too late. */
export function reportedUsage(known: PriorUsage, timeAgo: (ageMs: number) => number): ReportedUsage {
  const { used, held, resetAfterMs, ageMs, admitted } = known
  const at = (age: number): number => Math.max(1, timeAgo(age))
  return {
    used,
    held,
    resetAfterMs,
    usedAt: ageMs === undefined ? Number.POSITIVE_INFINITY : at(ageMs),
    admitted,
    admittedAt: admitted ? at(admitted.ageMs) : 0,
  }
}

/** `used`, `resetAfterMs`, `usedAt`, `uncounted`, `unsure`, `upTo` and `admittedAt` of reported usage. */
export type ReportedNumbers = readonly [number, number, number, number, number, number, number]

/** Returns reported usage as numbers, of which the second and third may be Infinity. */
export function reportedNumbers({ used, resetAfterMs, usedAt, admitted, admittedAt }: ReportedUsage): ReportedNumbers {
  const { uncounted = 0, unsure = 0, upTo = 0 } = admitted ?? {}
  return [used, resetAfterMs, usedAt, uncounted, unsure, upTo, admittedAt]
}

/**
 * Returns the process time until which a command that must not be lost is sent. It does not depend on how long the caller
 * waits. `issuedAt`: process time of the command.
 */
export function lastSentAt(issuedAt: number): number {
  return issuedAt + IDEMPOTENT_MS
}
