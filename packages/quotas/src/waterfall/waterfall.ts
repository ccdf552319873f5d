import { randomUUID } from 'node:crypto'
import { badOption, type Duration, optionsOf, SluiceError } from '@sluice/limiter-core/backend'
import type { AccountGroups } from '../account/account-groups.ts'
import { endToken } from '../account/account-reservations.ts'
import { accountOf } from '../quota-counter.ts'
import { isUnits, reservedOf, tokenOf, unitsOf } from '../quota-options.ts'
import { memberOf, type OpenPart } from './open-parts.ts'
import { PartAccounts } from './part-accounts.ts'
import {
  type HoldRecord,
  heldId,
  holdToken,
  otherUnits,
  recordOf,
  recordText,
  type TakeRecord,
  takeToken,
} from './take-record.ts'
import type { WaterfallDecision, WaterfallRefund, WaterfallReservation, WaterfallTake } from './waterfall-answers.ts'
import { WaterfallRefunds } from './waterfall-refunds.ts'

export interface WaterfallTakeOptions {
  /** Makes the take count once, ever, and repeats its answer. 1 to 256 characters. Default: a random key. */
  readonly idempotencyKey?: string | undefined
}

export interface WaterfallReserveOptions {
  /**
   * Makes the reservation count once, ever, and identifies it; not the key of a take. 1 to 256 characters. Default: a
   * random key.
   */
  readonly idempotencyKey?: string | undefined
  /** Time after which the reservation expires unless it is settled, 1 s to 7 days. Default: 1 minute. */
  readonly ttlMs?: Duration | undefined
}

export interface WaterfallRefundOptions {
  /**
   * Makes the refund count once, ever; 1 to 256 characters. Needed for several refunds of one take. By default, a take
   * is refunded once.
   */
  readonly idempotencyKey?: string | undefined
}

/** Takes units from several quotas in order. Created by `waterfall`. */
export class Waterfall {
  readonly #parts: readonly OpenPart[]
  readonly #groups: AccountGroups
  readonly #refunds: WaterfallRefunds

  constructor(parts: readonly OpenPart[], groups: AccountGroups) {
    this.#parts = parts
    this.#groups = groups
    this.#refunds = new WaterfallRefunds(parts, groups)
  }

  /**
   * Takes units, from the first part that has any and then from the next ones. All units are taken or none. The same
   * key and `idempotencyKey` return the same answer and are charged once; a denied take is decided again.
   *
   * Throws `SLUICE_BAD_OPTION` unless `units` is an integer from 1. Rejects with `SLUICE_TOKEN_REUSED` if the
   * idempotency key took other units, and with `SLUICE_COUNTERS_UNAVAILABLE` if the outcome is unknown: repeat the call
   * with the same key.
   */
  async take(key: string, units: number, options: WaterfallTakeOptions = {}): Promise<WaterfallTake> {
    const id = idOf('take', options) ?? randomUUID()
    unitsOf('take', units)
    return this.#groups.change<WaterfallTake>({
      members: this.#parts.map((part) => memberOf(part, key)),
      token: takeToken(id),
      apply: (accounts) => {
        const opened = new PartAccounts(this.#parts, accounts, key)
        const decision = opened.decide(units)
        if (!decision.allowed) return { result: { ...decision, idempotencyKey: id }, writes: 0 }
        const writes = opened.charge(decision, id)
        return { result: { ...decision, remaining: opened.free, idempotencyKey: id }, writes }
      },
      used: ({ ref }) => repeatedTake('take', recordOf<TakeRecord>(ref), id, units),
    })
  }

  /**
   * Returns what `take` would return now, and takes nothing. Throws `SLUICE_BAD_OPTION` unless `units` is an integer
   * from 1. Default: 1.
   */
  async peek(key: string, units = 1): Promise<WaterfallDecision> {
    unitsOf('peek', units)
    return this.#groups.change<WaterfallDecision>({
      members: this.#parts.map((part) => memberOf(part, key)),
      token: undefined,
      apply: (accounts) => ({ result: new PartAccounts(this.#parts, accounts, key).decide(units), writes: 0 }),
    })
  }

  /**
   * Reserves units of the parts, in order, for work whose cost is not known yet. Until `settle` or until `ttlMs` (1 s to
   * 7 days, default: 1 minute), they count as taken. The same `idempotencyKey` returns the same reservation.
   *
   * Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`. Rejects like `take`.
   */
  async reserve(key: string, units: number, options: WaterfallReserveOptions = {}): Promise<WaterfallReservation> {
    const { idempotencyKey, ttlMs: given } = optionsOf('reserve', options, ['idempotencyKey', 'ttlMs'])
    const { id, ttlMs } = reservedOf(units, { id: idempotencyKey, ttlMs: given })
    const held = this.#heldId(id)
    return this.#groups.change<WaterfallReservation>({
      members: this.#parts.map((part) => memberOf(part, key)),
      token: holdToken(id),
      apply: (accounts) => {
        const opened = new PartAccounts(this.#parts, accounts, key)
        const standing = opened.reserved(held)
        const decision = { ...opened.decide(units), idempotencyKey: id }
        // restored by another process after a failover that lost the entry of the reservation
        if (standing) return { result: { ...decision, ...standing, allowed: true, retryAfterMs: 0 }, writes: 0 }
        const endsAt = Math.floor(opened.now + ttlMs)
        if (!decision.allowed) return { result: { ...decision, endsAt: opened.now }, writes: 0 }
        const writes = opened.reserve(decision, held, endsAt)
        const result = { ...decision, remaining: opened.free, endsAt }
        const { idempotencyKey: _id, ...record } = result
        accounts[0].journal.entries.push({
          kind: 'reserved',
          token: holdToken(id),
          ref: recordText(record),
          units,
          period: null,
        })
        return { result, writes }
      },
      used: ({ ref }) => repeatedReservation(recordOf<HoldRecord>(ref), id, units),
    })
  }

  /**
   * Ends a reservation and takes the units that were used, which may be 0, fewer or more than reserved. It is never
   * denied: units that do not fit are charged to the last part, beyond its limit. It also charges them if the
   * reservation has expired. The answer is that of a take with the `idempotencyKey` of the reservation, which `refund`
   * accepts; a repeated call returns the same answer.
   *
   * Throws `SLUICE_BAD_OPTION` unless `units` is an integer from 0. Rejects with `SLUICE_NO_RESERVATION` if the key has
   * no such reservation, `SLUICE_TOKEN_REUSED` if it was settled with other units, and `SLUICE_COUNTERS_UNAVAILABLE` if
   * the outcome is unknown: repeat the call.
   */
  async settle(
    key: string,
    units: number,
    reservation: string | Pick<WaterfallReservation, 'idempotencyKey'>,
  ): Promise<WaterfallTake> {
    const id = tokenOf('settle', typeof reservation === 'string' ? reservation : reservation?.idempotencyKey)
    if (units !== 0 && !isUnits(units)) throw badOption('settle: units', units, 'an integer from 0')
    const isKnown = await this.#isReserved(key, id)
    return this.#groups.change<WaterfallTake>({
      members: this.#parts.map((part) => memberOf(part, key)),
      token: takeToken(id),
      apply: (accounts) => {
        const opened = new PartAccounts(this.#parts, accounts, key)
        const released = opened.release(this.#heldId(id), units > 0)
        if (!isKnown && released === 0) throw unknownReservation()
        const decision = opened.decideBeyond(units)
        const writes = Math.max(released, opened.charge(decision, id))
        return { result: { ...decision, remaining: opened.free, idempotencyKey: id }, writes }
      },
      used: ({ ref }) => repeatedTake('settle', recordOf<TakeRecord>(ref), id, units),
    })
  }

  /**
   * Gives back units of a take, to its last part first. Units return to the periods from which they were taken, and
   * credits to their top-ups, even if these have expired. `take` is the answer of `take`, or its idempotency key.
   *
   * Rejects with `SLUICE_UNKNOWN_TAKE` if the key has no such take, or if this waterfall lacks a part that gave the units,
   * `SLUICE_BAD_OPTION` unless `units` is an integer
   * from 1 to the units that are left of the take, and `SLUICE_TOKEN_REUSED` if the same refund was made with other
   * units.
   */
  async refund(
    key: string,
    units: number,
    take: string | Pick<WaterfallTake, 'idempotencyKey'>,
    options: WaterfallRefundOptions = {},
  ): Promise<WaterfallRefund> {
    const id = tokenOf('refund', typeof take === 'string' ? take : take?.idempotencyKey)
    const own = idOf('refund', options) ?? ''
    return this.#refunds.refund(key, id, { id: own, units: unitsOf('refund', units) })
  }

  /** Closes the parts. The quotas stay open. */
  close(): void {
    for (const { counter } of this.#parts) counter.close()
  }

  #heldId(id: string): string {
    return heldId(id, this.#parts[0].counter.account)
  }

  /** Returns whether a reservation of an id was made, even if its units have been settled or have returned. */
  async #isReserved(key: string, id: string): Promise<boolean> {
    const accounts = this.#parts.map(({ counter }) => accountOf({ key, counter }))
    if (await this.#groups.usedToken(accounts[0], holdToken(id))) return true
    // a failover may have lost the entry of a reservation that another process restored
    const ends = accounts.map((account) => this.#groups.usedToken(account, endToken(this.#heldId(id))))
    return (await Promise.all(ends)).some((end) => end !== undefined)
  }
}

function idOf(owner: string, options: WaterfallTakeOptions): string | undefined {
  const { idempotencyKey } = optionsOf(owner, options, ['idempotencyKey'])
  return idempotencyKey === undefined ? undefined : tokenOf(owner, idempotencyKey)
}

function repeatedTake(owner: string, { parts, ...taken }: TakeRecord, id: string, units: number): WaterfallTake {
  if (units !== taken.units) throw otherUnits(owner, taken.units, units)
  const plain = parts.map((part) => ({ name: part.name, units: part.units }))
  return { allowed: true, ...taken, parts: plain, retryAfterMs: 0, idempotencyKey: id }
}

function repeatedReservation(record: HoldRecord, id: string, units: number): WaterfallReservation {
  if (units !== record.units) throw otherUnits('reserve', record.units, units)
  return { ...record, idempotencyKey: id }
}

function unknownReservation(): SluiceError {
  return new SluiceError(
    'SLUICE_NO_RESERVATION',
    'settle: expected the idempotency key of a reservation of this key, received an unknown one',
  )
}
