import type { QuotaEntry } from '@sluice/counters/backend'
import { SluiceError } from '@sluice/limiter-core/backend'
import type { WaterfallReservation } from './waterfall-answers.ts'

/** What a take took from one part. */
interface TakenPart {
  readonly name: string
  readonly units: number
  /** Label of the period to which the units are charged. */
  readonly period: string
}

/** A take as its entry stores it. */
export interface TakeRecord {
  readonly units: number
  readonly remaining: number
  readonly takenAt: number
  readonly parts: readonly TakenPart[]
}

/** A refund as its entry stores it. */
export interface RefundRecord {
  /** Idempotency key of the refund. */
  readonly id: string
  /** Units to give back. The parts may have accepted fewer. */
  readonly units: number
  readonly parts: readonly Omit<TakenPart, 'period'>[]
}

/** A reservation as its entry stores it. */
export type HoldRecord = Omit<WaterfallReservation, 'idempotencyKey'>

/** Version of the format of the records. */
const VERSION = 1

/** Returns the token of the entry of a take. */
export function takeToken(id: string): string {
  return `take:${id}`
}

/** Returns the token of the entry of a refund of a take, whose refunds are numbered from 0. */
export function refundToken(id: string, number: number): string {
  return `return:${number}:${id}`
}

/** Returns the token of the entry of a reservation. */
export function holdToken(id: string): string {
  return `hold:${id}`
}

/**
 * Returns the id of a reservation in the accounts. It contains the count name of the first part, because waterfalls with
 * other first parts may use the same id. Ids of other reservations contain no backslash.
 */
export function heldId(id: string, first: string): string {
  return `\\${first}\\${id}`
}

export function recordText(record: TakeRecord | RefundRecord | HoldRecord): string {
  return JSON.stringify({ v: VERSION, ...record })
}

/** Parses a stored record. Throws `SLUICE_COUNTER_TABLES` if a later release wrote it. */
export function recordOf<T extends TakeRecord | RefundRecord | HoldRecord>(text: string | null): T {
  const { v, ...record } = JSON.parse(text ?? '{}') as T & { readonly v?: number }
  if (v === VERSION) return record as unknown as T
  throw new SluiceError('SLUICE_COUNTER_TABLES', `waterfall entry: expected version ${VERSION}, received version ${v}`)
}

/** Returns the error of a call whose idempotency key was used with other units. */
export function otherUnits(owner: string, expected: number, received: number): SluiceError {
  return new SluiceError(
    'SLUICE_TOKEN_REUSED',
    `${owner}: units: expected ${expected}, as in the first call with this idempotency key, received ${received}`,
  )
}

/**
 * Returns the token and reference of an entry of a change of several parts. The first part stores the token and the
 * record. The others refer to the token, which a waterfall that begins with them may use, too.
 */
export function partEntry(index: number, token: string, record: string): Pick<QuotaEntry, 'token' | 'ref'> {
  return index === 0 ? { token, ref: record } : { token: null, ref: token }
}
