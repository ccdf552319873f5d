import { badOption, SluiceError } from '@sluice/limiter-core/backend'
import type { AccountGroups } from '../account/account-groups.ts'
import type { QuotaAccount } from '../account/quota-account.ts'
import { accountOf } from '../quota-counter.ts'
import { memberOf, type OpenPart } from './open-parts.ts'
import { namedUnits } from './part-accounts.ts'
import {
  otherUnits,
  partEntry,
  type RefundRecord,
  recordOf,
  recordText,
  refundToken,
  type TakeRecord,
  takeToken,
} from './take-record.ts'
import { splitRefund } from './unit-split.ts'
import type { WaterfallRefund } from './waterfall-answers.ts'

/** Refunds of takes. The refunds of a take are numbered, so that two at once exclude each other. */
export class WaterfallRefunds {
  readonly #parts: readonly OpenPart[]
  readonly #groups: AccountGroups

  constructor(parts: readonly OpenPart[], groups: AccountGroups) {
    this.#parts = parts
    this.#groups = groups
  }

  /** Makes refund `refund.id` of take `id`, or returns its answer if it was made before. */
  async refund(key: string, id: string, refund: Pick<RefundRecord, 'id' | 'units'>): Promise<WaterfallRefund> {
    const first = accountOf({ key, counter: this.#parts[0].counter })
    const entry = await this.#groups.usedToken(first, takeToken(id))
    if (!entry) throw unknownTake()
    const taken = recordOf<TakeRecord>(entry.ref)
    for (let [number, before] = [0, 0]; ; number++) {
      const token = refundToken(id, number)
      const earlier = await this.#groups.usedToken(first, token)
      const record = earlier
        ? recordOf<RefundRecord>(earlier.ref)
        : await this.#giveBack(key, { token, taken, before, refund })
      if (record.id === refund.id) return repeatedRefund(record, refund.units)
      before += record.units
    }
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
    const absent = taken.parts.find(
      ({ name }, index) => split[index] > 0 && !this.#parts.some((part) => part.name === name),
    )
    if (absent) throw absentPart(absent.name)
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
        const record = { ...refund, parts: namedUnits(names, given).toReversed() }
        for (const [index, { period }] of targets.entries()) {
          const entry = partEntry(index, token, recordText(record))
          const units = given[index] === 0 ? 0 : -given[index]
          accounts[index].journal.entries.push({ kind: 'returned', ...entry, units, period })
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

function repeatedRefund({ units: requested, parts }: RefundRecord, units: number): WaterfallRefund {
  if (requested !== units) throw otherUnits('refund', requested, units)
  return { units: parts.reduce((sum, part) => sum + part.units, 0), parts }
}

function absentPart(name: string): SluiceError {
  return new SluiceError(
    'SLUICE_UNKNOWN_TAKE',
    `refund: expected a waterfall with the parts of the take, received one without '${name}'`,
  )
}

function unknownTake(): SluiceError {
  return new SluiceError(
    'SLUICE_UNKNOWN_TAKE',
    'refund: expected the idempotency key of an allowed take of this key, received an unknown one',
  )
}
