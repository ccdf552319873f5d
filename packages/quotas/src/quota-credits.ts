import type { AccountId, QuotaTable } from '@sluice/counters/backend'
import { creditLease } from './account/account-leases.ts'
import type { QuotaTerms } from './account/account-periods.ts'
import type { AccountStore } from './account/account-store.ts'
import type { QuotaAccount } from './account/quota-account.ts'
import { topUpEntry } from './account/top-ups.ts'
import { accountOf, type QuotaCounter } from './quota-counter.ts'
import { listedKey, storedKey, storedListed } from './stored-key.ts'

/** Maximum number of listed leases. */
const MAX_STRANDED = 1_000

/** Units charged for a lease that ended without a report. They may not have been spent. */
export interface StrandedLease {
  /** The key, or `\\sha256:` and 43 characters for a key longer than 512 bytes, which is stored as its hash. */
  readonly key: string
  /** Local date on which the period began, e.g. `2026-11-01`; `2026-11-01.2` if the key had this date in another zone. */
  readonly period: string
  /** Id of the lease. */
  readonly ref: string
  readonly units: number
  /** When the units were charged, in epoch ms. */
  readonly at: number
}

export interface TopUpUnits {
  readonly token: string
  readonly units: number
  /** Time at which unspent units expire, in epoch ms; null for never. */
  readonly endsAt: number | null
}

export interface RefundedUnits {
  readonly token: string
  readonly units: number
  /** Time at which the units were spent, in epoch ms. Default: now. */
  readonly at: number | undefined
}

/** Units given to keys: top-ups, refunds, and credits for leases that ended without a report. Each counts once. */
export class QuotaCredits {
  readonly #store: AccountStore
  readonly #table: QuotaTable

  constructor(store: AccountStore, table: QuotaTable) {
    this.#store = store
    this.#table = table
  }

  /** Returns false if the token was already used. */
  topUp(counter: QuotaCounter, key: string, { token, units, endsAt }: TopUpUnits): Promise<boolean> {
    return this.#changeOnce(accountOf({ key, counter }), counter.termsOf(key), token, (account) => {
      account.topUps.add({ token, units, left: units, endsAt }, account.now)
      account.journal.entries.push(topUpEntry(token, units))
    })
  }

  /** Gives back at most the used units of the period. Returns false if the token was already used. */
  refund(counter: QuotaCounter, key: string, { token, units, at }: RefundedUnits): Promise<boolean> {
    return this.#changeOnce(accountOf({ key, counter }), counter.termsOf(key), token, (account) => {
      account.open(account.lastLimit ?? counter.limit)
      const period = account.periodAt(at ?? account.now)
      const before = period.used
      account.charge(period, -units, at ?? account.now)
      const given = before - period.used
      account.journal.entries.push({ kind: 'refund', token, ref: null, units: -given, period: period.label })
    })
  }

  /** Returns at most 1,000 leases that ended without a report and have charged units, the oldest first. */
  async stranded({ account: name }: QuotaCounter, key: string | undefined): Promise<readonly StrandedLease[]> {
    const stored = key === undefined ? undefined : storedKey(key)
    const found = await this.#table.stranded({ name, key: stored, limit: MAX_STRANDED })
    return found.map(({ key, period, ref, units, at }) => ({ key: listedKey(key), period, ref, units, at }))
  }

  /** Gives back the units charged for a lease, once. Returns the number of units given back. */
  async credit(counter: QuotaCounter, { key, ref, period, units }: StrandedLease): Promise<number> {
    const token = `credit:${ref}:${period}`
    let credited = 0
    const id = { name: counter.account, key: storedListed(key) }
    const stranded = await this.#table.stranded({ ...id, limit: MAX_STRANDED })
    const charged = stranded.find((one) => one.ref === ref && one.period === period)?.units ?? 0
    if (charged === 0) return 0
    const isNew = await this.#changeOnce(id, counter.terms, token, (account) => {
      credited = creditLease(account, ref, period, Math.min(units, charged))
      account.journal.entries.push({ kind: 'credit', token, ref, units: -credited, period })
    })
    return isNew ? credited : 0
  }

  #changeOnce(
    id: AccountId,
    terms: QuotaTerms,
    token: string,
    change: (account: QuotaAccount) => void,
  ): Promise<boolean> {
    const apply = (account: QuotaAccount): boolean => {
      change(account)
      return true
    }
    return this.#store.change(id, terms, { token, apply, used: () => false })
  }
}
