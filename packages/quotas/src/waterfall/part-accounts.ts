import { endToken, reservedEntry } from '../account/account-reservations.ts'
import type { QuotaAccount } from '../account/quota-account.ts'
import type { OpenPart } from './open-parts.ts'
import { partEntry, recordText, type TakeRecord, takeToken } from './take-record.ts'
import { splitUnits, waitUntilFit } from './unit-split.ts'
import type { WaterfallDecision, WaterfallPart } from './waterfall-answers.ts'

/** The open accounts of a key under the parts of a waterfall, in the order of the parts. */
export class PartAccounts {
  readonly #parts: readonly OpenPart[]
  readonly #accounts: readonly QuotaAccount[]

  constructor(parts: readonly OpenPart[], accounts: readonly QuotaAccount[], key: string) {
    this.#parts = parts
    this.#accounts = accounts
    for (const [index, part] of parts.entries()) accounts[index].open(part.limitOf(key))
  }

  /** Time of the database, in epoch ms. */
  get now(): number {
    return this.#accounts[0].now
  }

  /** Units of all parts that can be taken now. */
  get free(): number {
    return this.#frees.reduce((sum, free) => sum + free, 0)
  }

  /** Returns the decision about units, and takes nothing. */
  decide(units: number): WaterfallDecision {
    const split = splitUnits(this.#frees, units)
    return {
      allowed: split !== undefined,
      units,
      parts: namedUnits(this.#parts, split ?? []),
      remaining: this.free,
      retryAfterMs: split ? 0 : waitUntilFit(this.#accounts, units),
      takenAt: this.now,
    }
  }

  /** Returns a decision that is never denied: units that do not fit come from the last part. */
  decideBeyond(units: number): WaterfallDecision {
    const frees = this.#frees
    const split = splitUnits([...frees.slice(0, -1), Number.POSITIVE_INFINITY], units) ?? []
    const parts = namedUnits(this.#parts, split)
    return { allowed: true, units, parts, remaining: this.free, retryAfterMs: 0, takenAt: this.now }
  }

  /** Charges the parts of a decision as take `id`. Returns how many accounts must be written, so that it stays true. */
  charge(decision: WaterfallDecision, id: string): number {
    const token = takeToken(id)
    const taken = this.#split(decision).map((units, index) => {
      const account = this.#accounts[index]
      account.charge(account.current, units, account.now)
      return { name: this.#parts[index].name, units, period: account.current.label }
    })
    const parts = taken.filter((part) => part.units > 0)
    const record: TakeRecord = { units: decision.units, remaining: this.free, takenAt: this.now, parts }
    for (const [index, part] of taken.entries()) {
      if (index > 0 && part.units === 0) continue
      const entry = partEntry(index, token, recordText(record))
      this.#accounts[index].journal.entries.push({ kind: 'taken', ...entry, units: part.units, period: part.period })
    }
    return (
      1 +
      Math.max(
        0,
        taken.findLastIndex((part) => part.units > 0),
      )
    )
  }

  /** Reserves the parts of a decision until `endsAt`. Returns how many accounts must be written. */
  reserve(decision: WaterfallDecision, id: string, endsAt: number): number {
    const split = this.#split(decision)
    for (const [index, units] of split.entries()) {
      if (units === 0) continue
      const account = this.#accounts[index]
      const reservation = { id, period: account.current.label, units, endsAt, madeAt: account.now }
      account.reserve(reservation)
      account.journal.entries.push(reservedEntry(reservation))
    }
    return split.findLastIndex((units) => units > 0) + 1
  }

  /** Returns the units that are reserved under an id in each part, and when they end; undefined if there are none. */
  reserved(id: string): { readonly parts: readonly WaterfallPart[]; readonly endsAt: number } | undefined {
    const found = this.#accounts.map(({ reservations }) => reservations.find((one) => one.id === id))
    const endsAt = found.find((one) => one)?.endsAt
    if (endsAt === undefined) return undefined
    const units = found.map((one) => one?.units ?? 0)
    return { parts: namedUnits(this.#parts, units), endsAt }
  }

  /**
   * Releases the units that are reserved under an id. `posted` is whether their cost is charged. Returns how many
   * accounts must be written.
   */
  release(id: string, posted: boolean): number {
    const released = this.#accounts.map((account) => {
      const reservation = account.release(id)
      if (!reservation) return false
      const kind = posted ? 'posted' : 'voided'
      // the units that are charged have their own entry
      account.journal.entries.push({ kind, token: endToken(id), ref: id, units: 0, period: reservation.period })
      return true
    })
    return released.lastIndexOf(true) + 1
  }

  get #frees(): readonly number[] {
    return this.#accounts.map(({ free }) => free)
  }

  #split({ parts }: WaterfallDecision): readonly number[] {
    return this.#parts.map(({ name }) => parts.find((part) => part.name === name)?.units ?? 0)
  }
}

/** Returns the parts with units. */
export function namedUnits(
  parts: readonly { readonly name: string }[],
  units: readonly number[],
): readonly WaterfallPart[] {
  return parts.flatMap(({ name }, index) => (units[index] > 0 ? [{ name, units: units[index] }] : []))
}
