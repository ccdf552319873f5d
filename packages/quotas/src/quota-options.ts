import { randomUUID } from 'node:crypto'
import { badOption, type Duration, parseMs } from '@sluice/limiter-core/backend'
import type { QuotaName } from './open-quotas.ts'
import type { RefundedUnits, TopUpUnits } from './quota-credits.ts'
import type { ReservedUnits } from './quota-reservations.ts'
import { storedKey } from './stored-key.ts'

const MAX_RESERVED_MS = 7 * 24 * 3_600_000

export interface TopUpOptions extends QuotaName {
  /** Makes the top-up count only once, ever, e.g. the number of an invoice. 1 to 256 characters. */
  readonly token: string
  /** Time at which unspent units of the top-up expire, as epoch ms or a `Date`. Default: never. */
  readonly expiresAt?: number | Date | undefined
}

export interface RefundOptions extends QuotaName {
  /** Makes the refund count only once, ever. 1 to 256 characters. */
  readonly token: string
  /** Time at which the units were spent, as epoch ms or a `Date`; selects the period. Default: now. */
  readonly at?: number | Date | undefined
}

export interface ReserveOptions extends QuotaName {
  /** Time after which the reservation expires unless it is posted or voided, 1 s to 7 days. Default: 1 minute. */
  readonly ttlMs?: Duration | undefined
  /** Id of the reservation, unique for the key; 1 to 256 characters. Default: a random id. */
  readonly id?: string | undefined
}

/** Returns the validated arguments of `topUp`. Throws `SLUICE_BAD_OPTION`. */
export function topUpOf(units: number, { token, expiresAt }: TopUpOptions): TopUpUnits {
  return {
    token: `top-up:${tokenOf('topUp', token)}`,
    units: unitsOf('topUp', units),
    endsAt: expiresAt === undefined ? null : instantOf('topUp: expiresAt', expiresAt),
  }
}

/** Returns the validated arguments of `refund`. Throws `SLUICE_BAD_OPTION`. */
export function refundedOf(units: number, { token, at }: RefundOptions): RefundedUnits {
  return {
    token: `refund:${tokenOf('refund', token)}`,
    units: unitsOf('refund', units),
    at: at === undefined ? undefined : instantOf('refund: at', at),
  }
}

/** Returns the validated arguments of `reserve`. Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`. */
export function reservedOf(units: number, { id, ttlMs: given = 60_000 }: ReserveOptions): ReservedUnits {
  const ttlMs = parseMs(given, 'reserve: ttlMs')
  if (!(ttlMs >= 1_000 && ttlMs <= MAX_RESERVED_MS))
    throw badOption('reserve: ttlMs', given, 'a duration from 1s to 7d')
  return { units: unitsOf('reserve', units), ttlMs, id: id === undefined ? randomUUID() : tokenOf('reserve', id) }
}

export function isUnits(units: number): boolean {
  return Number.isSafeInteger(units) && units >= 1
}

export function unitsOf(owner: string, units: number): number {
  if (isUnits(units)) return units
  throw badOption(`${owner}: units`, units, 'an integer from 1')
}

export function tokenOf(owner: string, token: string): string {
  if (typeof token === 'string' && token.length >= 1 && token.length <= 256 && storedKey(token) === token) return token
  throw badOption(
    `${owner}: token`,
    token,
    'a string of 1 to 256 characters without NUL, backslashes and lone surrogates',
  )
}

export function instantOf(option: string, at: number | Date): number {
  const ms = Number(at)
  if (Number.isFinite(ms)) return ms
  throw badOption(option, at, 'epoch ms or a Date')
}
