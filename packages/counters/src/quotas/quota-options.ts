import { randomUUID } from 'node:crypto'
import { badOption, type Duration, parseMs } from '@sluice/limiter-core/backend'
import type { QuotaName } from './quota-counts.ts'
import type { ReservedUnits } from './quota-reservations.ts'
import { storedKey } from './stored-key.ts'

const MOST_RESERVED_MS = 7 * 24 * 3_600_000

export interface TopUpOptions extends QuotaName {
  /** Makes it count once, for good: the number of an invoice. 1 to 256 characters. */
  readonly token: string
  /** Epoch ms or a date after which what is left of it is gone. Default: never. */
  readonly expiresAt?: number | Date | undefined
}

export interface RefundOptions extends QuotaName {
  /** Makes it count once, for good. 1 to 256 characters. */
  readonly token: string
  /** Epoch ms or a date of what is given back, for its period. Default: now. */
  readonly at?: number | Date | undefined
}

export interface ReserveOptions extends QuotaName {
  /** How long it stands unless it is posted or voided: 1 s to 7 days. Default: 1 minute. */
  readonly forMs?: Duration | undefined
  /** Unlike all others of the key. Default: a random one. */
  readonly id?: string | undefined
}

/** What `reserve` is asked for, checked. Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`. */
export function reservedOf(units: number, { id, forMs: given = 60_000 }: ReserveOptions): ReservedUnits {
  const forMs = parseMs(given, 'reserve: forMs')
  if (!(forMs >= 1_000 && forMs <= MOST_RESERVED_MS)) throw badOption('reserve: forMs', given, '1s to 7d')
  return { units: unitsOf('reserve', units), forMs, id: id === undefined ? randomUUID() : tokenOf('reserve', id) }
}

export function unitsOf(owner: string, units: number): number {
  if (Number.isSafeInteger(units) && units >= 1) return units
  throw badOption(`${owner}: units`, units, 'a whole number of 1 or more')
}

export function tokenOf(owner: string, token: string): string {
  if (typeof token === 'string' && token.length >= 1 && token.length <= 256 && storedKey(token) === token) return token
  throw badOption(`${owner}: token`, token, '1 to 256 characters, without NUL, backslash or half a surrogate pair')
}

export function instantOf(option: string, at: number | Date): number {
  const ms = Number(at)
  if (Number.isFinite(ms)) return ms
  throw badOption(option, at, 'epoch ms or a date')
}
