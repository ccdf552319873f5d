import { randomUUID } from 'node:crypto'
import { badOption, optionsOf, SluiceError } from '@sluice/limiter-core/backend'
import type { AccountGroups, GroupMember } from '../account/account-groups.ts'
import type { QuotaAccount } from '../account/quota-account.ts'
import { accountOf } from '../quota-counter.ts'
import { tokenOf, unitsOf } from '../quota-options.ts'
import type { OpenPart } from './open-parts.ts'
import { type RefundRecord, recordOf, recordText, refundToken, type TakeRecord, takeToken } from './take-record.ts'
import { splitRefund, splitUnits, waitUntilFit } from './unit-split.ts'

/** Units of one part of a waterfall. */
export interface WaterfallPart {
  /** Name of the quota or of the credits. */
  readonly name: string
  readonly units: number
}

/** Answer of `take` and `peek` of a waterfall. */
export interface WaterfallDecision {
  readonly allowed: boolean
  /** The units that were requested. */
  readonly units: number
  /** The parts from which units came, in the order of the waterfall; their sum is `units`. Empty if denied. */
  readonly parts: readonly WaterfallPart[]
  /** Units of all parts that could be taken then. */
  readonly remaining: number
  /**
   * Milliseconds until the units fit if nothing else is taken: 0 if allowed, Infinity if they never fit without a
   * top-up or a refund.
   */
  readonly retryAfterMs: number
  /** When the decision was made, in epoch ms of the database's clock. */
  readonly takenAt: number
}

/** Answer of `take` of a waterfall. */
export interface WaterfallTake extends WaterfallDecision {
  /** Identifies the take: the given key, or a random one. */
  readonly idempotencyKey: string
}

/** Answer of `refund` of a waterfall. */
export interface WaterfallRefund {
  /** Units that were given back: fewer than requested if a period is no longer stored, or was refunded otherwise. */
  readonly units: number
  /** The parts that received units, the last part of the waterfall first. */
  readonly parts: readonly WaterfallPart[]
}

export interface WaterfallTakeOptions {
  /** Makes the take count once, ever, and repeats its answer. 1 to 256 characters. Default: a random key. */
  readonly idempotencyKey?: string | undefined
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

  constructor(parts: readonly OpenPart[], groups: AccountGroups) {
    this.#parts = parts
    this.#groups = groups
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
        this.#open(key, accounts)
        const decision = this.#decide(accounts, units)
        if (!decision.allowed) return { result: { ...decision, idempotencyKey: id }, writes: 0 }
        const writes = this.#charge(accounts, decision, id)
        return { result: { ...decision, remaining: freeOf(accounts), idempotencyKey: id }, writes }
      },
      used: ({ ref }) => repeatedTake(recordOf<TakeRecord>(ref), id, units),
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
      apply: (accounts) => {
        this.#open(key, accounts)
        return { result: this.#decide(accounts, units), writes: 0 }
      },
    })
  }

  /**
   * Gives back units of a take, to its last part first. Units return to the periods from which they were taken, and
   * credits to their top-ups. `take` is the answer of `take`, or its idempotency key.
   *
   * Rejects with `SLUICE_UNKNOWN_TAKE` if the key has no such take, `SLUICE_BAD_OPTION` unless `units` is an integer
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
    unitsOf('refund', units)
    const first = accountOf({ key, counter: this.#parts[0].counter })
    const entry = await this.#groups.usedToken(first, takeToken(id))
    if (!entry) throw unknownTake()
    const taken = recordOf<TakeRecord>(entry.ref)
    for (let [number, before] = [0, 0]; ; number++) {
      const token = refundToken(id, number)
      const earlier = await this.#groups.usedToken(first, token)
      const record = earlier
        ? recordOf<RefundRecord>(earlier.ref)
        : await this.#giveBack(key, { token, taken, before, refund: { id: own, units } })
      if (record.id === own) return repeatedRefund(record, units)
      before += record.units
    }
  }

  /** Closes the parts. The quotas stay open. */
  close(): void {
    for (const { counter } of this.#parts) counter.close()
  }

  #open(key: string, accounts: readonly QuotaAccount[]): void {
    for (const [index, part] of this.#parts.entries()) accounts[index].open(part.limitOf(key))
  }

  #decide(accounts: readonly QuotaAccount[], units: number): WaterfallDecision {
    const split = splitUnits(
      accounts.map(({ free }) => free),
      units,
    )
    return {
      allowed: split !== undefined,
      units,
      parts: named(this.#parts, split ?? []),
      remaining: freeOf(accounts),
      retryAfterMs: split ? 0 : waitUntilFit(accounts, units),
      takenAt: accounts[0].now,
    }
  }

  /** Charges the parts of a decision. Returns how many accounts must be written, so that it stays true. */
  #charge(accounts: readonly QuotaAccount[], { parts, units, takenAt }: WaterfallDecision, id: string): number {
    const token = takeToken(id)
    const taken = this.#parts.map(({ name }, index) => {
      const part = parts.find((one) => one.name === name)?.units ?? 0
      accounts[index].take(part)
      return { name, units: part, period: accounts[index].current.label }
    })
    const record = { units, remaining: freeOf(accounts), takenAt, parts: taken.filter((part) => part.units > 0) }
    for (const [index, part] of taken.entries()) {
      const ref = index === 0 ? recordText(record) : null
      if (index > 0 && part.units === 0) continue
      accounts[index].journal.entries.push({ kind: 'taken', token, ref, units: part.units, period: part.period })
    }
    return taken.findLastIndex((part) => part.units > 0) + 1
  }

  /** Gives units back as refund `token` of a take, unless another refund has used it, and returns that refund. */
  #giveBack(key: string, { token, taken, before, refund }: Refund): Promise<RefundRecord> {
    const left = taken.units - before
    if (refund.units > left) throw badOption('refund: units', refund.units, `an integer from 1 to ${left}`)
    const split = splitRefund(
      taken.parts.map((part) => part.units),
      before,
      refund.units,
    )
    // the first part stores the entry, even if it receives no units
    const [first, ...others] = this.#parts.map((part) => {
      const index = taken.parts.findIndex(({ name }) => name === part.name)
      return { part, units: index < 0 ? 0 : split[index], period: taken.parts[index]?.period ?? null }
    })
    const targets = [first, ...others.filter(({ units }) => units > 0)]
    return this.#groups.change<RefundRecord>({
      members: targets.map(({ part }) => memberOf(part, key)),
      token,
      apply: (accounts) => {
        const given = targets.map(({ units, period }, index) =>
          units === 0 ? 0 : returned(accounts[index], { units, period, takenAt: taken.takenAt }),
        )
        const names = targets.map(({ part }) => part)
        const record = { ...refund, parts: named(names, given).toReversed() }
        for (const [index, { period }] of targets.entries()) {
          const ref = index === 0 ? recordText(record) : null
          const units = given[index] === 0 ? 0 : -given[index]
          accounts[index].journal.entries.push({ kind: 'returned', token, ref, units, period })
        }
        return { result: record, writes: targets.length }
      },
      used: ({ ref }) => recordOf<RefundRecord>(ref),
    })
  }
}

interface Refund {
  readonly token: string
  readonly taken: TakeRecord
  /** Units of the take that were given back earlier. */
  readonly before: number
  readonly refund: Pick<RefundRecord, 'id' | 'units'>
}

function memberOf({ counter }: OpenPart, key: string): GroupMember {
  return { id: accountOf({ key, counter }), terms: counter.terms }
}

function idOf(owner: string, options: WaterfallTakeOptions): string | undefined {
  const { idempotencyKey } = optionsOf(owner, options, ['idempotencyKey'])
  return idempotencyKey === undefined ? undefined : tokenOf(owner, idempotencyKey)
}

function freeOf(accounts: readonly QuotaAccount[]): number {
  return accounts.reduce((sum, { free }) => sum + free, 0)
}

/** Returns the parts with units. */
function named(parts: readonly { readonly name: string }[], units: readonly number[]): readonly WaterfallPart[] {
  return parts.flatMap(({ name }, index) => (units[index] > 0 ? [{ name, units: units[index] }] : []))
}

/** Returns units to a period of an account. Returns the units given back: none if the period is no longer stored. */
function returned(
  account: QuotaAccount,
  { units, period, takenAt }: { readonly units: number; readonly period: string | null; readonly takenAt: number },
): number {
  const found = period === null ? undefined : account.period(period)
  if (!found) return 0
  const before = found.used
  account.charge(found, -units, takenAt)
  return before - found.used
}

function repeatedTake({ parts, ...taken }: TakeRecord, id: string, units: number): WaterfallTake {
  if (units !== taken.units) throw otherUnits('take', taken.units, units)
  const plain = parts.map((part) => ({ name: part.name, units: part.units }))
  return { allowed: true, ...taken, parts: plain, retryAfterMs: 0, idempotencyKey: id }
}

function repeatedRefund({ units: requested, parts }: RefundRecord, units: number): WaterfallRefund {
  if (requested !== units) throw otherUnits('refund', requested, units)
  return { units: parts.reduce((sum, part) => sum + part.units, 0), parts }
}

function otherUnits(owner: string, expected: number, received: number): SluiceError {
  return new SluiceError(
    'SLUICE_TOKEN_REUSED',
    `${owner}: units: expected ${expected}, as in the first call with this idempotency key, received ${received}`,
  )
}

function unknownTake(): SluiceError {
  return new SluiceError(
    'SLUICE_UNKNOWN_TAKE',
    'refund: expected the idempotency key of an allowed take of this key, received an unknown one',
  )
}
