import {
  AWAITED,
  type Clock,
  everyTick,
  type MaybePromise,
  type Metric,
  type MetricSource,
  type Observer,
  type Observers,
  optionsOf,
} from '@sluice/limiter-core/backend'
import { type LeaseTerms, LeasingBackend } from '@sluice/limiter-core/leases'
import type { AccountId, QuotaTable, StrandedUnits } from '../ledger/quota-table.ts'
import { creditLease } from './account-leases.ts'
import type { ReservationEnd } from './account-reservations.ts'
import { AccountStore } from './account-store.ts'
import { ExactQuotas } from './exact-quotas.ts'
import { OwedUnits } from './owed-units.ts'
import { balanceOf, type QuotaBalance } from './quota-balance.ts'
import { accountOf, type QuotaCounter } from './quota-counter.ts'
import { QuotaCounts, type QuotaName } from './quota-counts.ts'
import { QuotaLedger } from './quota-ledger.ts'
import { QuotaMetrics } from './quota-metrics.ts'
import { QuotaNotices, type QuotaUsed } from './quota-notices.ts'
import {
  instantOf,
  type RefundOptions,
  type ReserveOptions,
  reservedOf,
  type TopUpOptions,
  tokenOf,
  unitsOf,
} from './quota-options.ts'
import { QuotaReports, type QuotaUsage, type UsageOptions, usageOptions } from './quota-reports.ts'
import { type QuotaReservation, QuotaReservations } from './quota-reservations.ts'
import { listedKey, storedKey, storedListed } from './stored-key.ts'
import { topUpEntry } from './top-ups.ts'

/** How often it looks for leases that have ended, notices that nobody delivered, and writes without an answer. */
const TICK_MS = 5_000
const DUE_AT_ONCE = 256
const CLOSES_WITHIN_MS = 1_000

/** A lease without a report: units that were charged, and that nobody may have spent. */
export interface QuotaStranded {
  /** Of a key that is stored as its hash, in place of it: `\\sha256:` and 43 characters. */
  readonly key: string
  /** Local date on which the period began. */
  readonly period: string
  /** The lease. */
  readonly ref: string
  readonly units: number
  /** Epoch ms. */
  readonly at: number
}

export interface QuotasDeps {
  readonly table: QuotaTable
  readonly clock: Clock
  readonly waitMs: number
  readonly terms: LeaseTerms
  readonly observers: Observers
  readonly onUsed: ((notice: QuotaUsed) => MaybePromise<void>) | undefined
}

interface QuotaParts extends QuotasDeps {
  readonly store: AccountStore
  readonly counts: QuotaCounts
  readonly owed: OwedUnits
  readonly notices: QuotaNotices
}

/** Quotas by the calendar in a database, spent from leases. Made by `createQuotas`; a backend for what `quota` makes. */
export class Quotas extends LeasingBackend implements MetricSource {
  readonly #parts: QuotaParts
  readonly #reports: QuotaReports
  readonly #reservations: QuotaReservations
  readonly #metrics: QuotaMetrics
  readonly #stopTick: () => void
  #ticking: Promise<void> | undefined

  constructor(deps: QuotasDeps) {
    const parts = partsOf(deps)
    const { store, counts, owed, clock, terms, table } = parts
    const name = 'quotas'
    const exact = new ExactQuotas({ name, store, clock, owed, opened: (counter) => counts.add(counter) })
    super({ name, exact, ledger: new QuotaLedger(store, terms), terms, keepsCalendars: true, clock })
    this.#parts = parts
    this.#reports = new QuotaReports(table)
    this.#reservations = new QuotaReservations(store, table)
    this.#metrics = new QuotaMetrics(owed)
    this.#stopTick = everyTick(clock, TICK_MS, () => {
      // by itself: a call that is never answered must not keep them from it
      store.settleDoubts()
      this.#ticking ??= this.#tick().finally(() => {
        this.#ticking = undefined
      })
    })
  }

  /** What a key has, by its plan of last time; of a key that never came by the smallest one. */
  balance(key: string, options: QuotaName = {}): Promise<QuotaBalance> {
    const counter = this.#counterOf('balance', options, [])
    return this.#change(counter, key, (account) => balanceOf(account.open(account.lastLimit ?? counter.limit)))
  }

  /** Units beside those of the plan, spent after them. Answers false where the token had counted. */
  async topUp(key: string, units: number, options: TopUpOptions): Promise<boolean> {
    const counter = this.#counterOf('topUp', options, ['token', 'expiresAt'])
    const token = `top-up:${tokenOf('topUp', options.token)}`
    const bought = unitsOf('topUp', units)
    const endsAt = options.expiresAt === undefined ? null : instantOf('topUp: expiresAt', options.expiresAt)
    return this.#changeOnce(accountOf({ key, counter }), counter, token, (account) => {
      account.topUps.add({ token, units: bought, left: bought, endsAt }, account.now)
      account.journal.entries.push(topUpEntry(token, bought))
    })
  }

  /** Gives units back that were used, as many as there are. Answers false where the token had counted. */
  async refund(key: string, units: number, options: RefundOptions): Promise<boolean> {
    const counter = this.#counterOf('refund', options, ['token', 'at'])
    const token = `refund:${tokenOf('refund', options.token)}`
    const back = unitsOf('refund', units)
    const at = options.at === undefined ? undefined : instantOf('refund: at', options.at)
    return this.#changeOnce(accountOf({ key, counter }), counter, token, (account) => {
      account.open(account.lastLimit ?? counter.limit)
      const period = account.periodAt(at ?? account.now)
      const before = period.used
      account.charge(period, -back, at ?? account.now)
      const given = before - period.used
      account.journal.entries.push({ kind: 'refund', token, ref: null, units: -given, period: period.label })
    })
  }

  /** Sets units aside, or answers undefined where they do not fit. */
  reserve(key: string, units: number, options: ReserveOptions = {}): Promise<QuotaReservation | undefined> {
    const counter = this.#counterOf('reserve', options, ['forMs', 'id'])
    return this.#reservations.reserve(counter, key, reservedOf(units, options))
  }

  /**
   * Charges what was used of a reservation, all of it unless said, and frees the rest; what is above it is charged, too.
   * Answers how the reservation ended, now or before. Rejects with `SLUICE_NO_RESERVATION`.
   */
  post(
    key: string,
    id: string,
    options: QuotaName & { readonly units?: number | undefined } = {},
  ): Promise<ReservationEnd> {
    const counter = this.#counterOf('post', options, ['units'])
    const units = options.units === undefined || options.units === 0 ? options.units : unitsOf('post', options.units)
    return this.#reservations.end(counter, key, tokenOf('post', id), units)
  }

  /** Frees a reservation. Answers how it ended, now or before. Rejects with `SLUICE_NO_RESERVATION`. */
  void(key: string, id: string, options: QuotaName = {}): Promise<ReservationEnd> {
    return this.#reservations.end(this.#counterOf('void', options, []), key, tokenOf('void', id), 0)
  }

  /** What a key used, by hour, day, week or month. */
  async usage(key: string, options: UsageOptions): Promise<readonly QuotaUsage[]> {
    const checked = usageOptions('usage', options)
    const spans: QuotaUsage[] = []
    for await (const span of this.#reports.usage(this.#parts.counts.of(checked), key, checked)) spans.push(span)
    return spans
  }

  /** What all keys used, as CSV, a part at a time: for `Readable.from`. */
  csv(options: UsageOptions): AsyncIterable<string> {
    const checked = usageOptions('csv', options)
    return this.#reports.csv(this.#parts.counts.of(checked), checked)
  }

  /** Leases whose owners never reported, and for which units are charged: at most 1,000, the oldest first. */
  async stranded(options: QuotaName & { readonly key?: string | undefined } = {}): Promise<readonly QuotaStranded[]> {
    const { name } = this.#counterOf('stranded', options, ['key'])
    const key = options.key === undefined ? undefined : storedKey(options.key)
    const found = await this.#parts.table.stranded({ name, key, limit: 1_000 })
    return found.map(({ key: stored, period, ref, units, at }: StrandedUnits) => ({
      key: listedKey(stored),
      period,
      ref,
      units,
      at,
    }))
  }

  /** Gives back what was charged for a lease without a report; answers how many units that were. Once for each lease. */
  async credit({ key, ref, period, units }: QuotaStranded, options: QuotaName = {}): Promise<number> {
    const counter = this.#counterOf('credit', options, [])
    const token = `credit:${ref}:${period}`
    let credited = 0
    const id = { name: counter.name, key: storedListed(key) }
    const isNew = await this.#changeOnce(id, counter, token, (account) => {
      credited = creditLease(account, ref, period, units)
      account.journal.entries.push({ kind: 'credit', token, ref, units: -credited, period })
    })
    return isNew ? credited : 0
  }

  metrics(): Iterable<Metric> {
    return this.#metrics.metrics()
  }

  override observe(observer: Observer): () => void {
    return this.#parts.observers.add(observer)
  }

  /** Resolves when nothing is under way at the database. */
  async idle(): Promise<void> {
    await this.#ticking
    await this.#parts.store.idle()
  }

  /**
   * Gives all leases back and charges what is owed, as far as the database answers within two seconds; an event `quota` tells
   * what is `lost`. Then it sends nothing more, and whatever needs the database fails. Its client stays open.
   */
  override async close(): Promise<void> {
    this.#stopTick()
    await super.close()
    const { owed, clock, notices, store } = this.#parts
    let stop = (): void => {}
    const late = new Promise<void>((resolve) => {
      stop = clock.after(CLOSES_WITHIN_MS, resolve, AWAITED)
    })
    await Promise.race([Promise.all([owed.drained().then(() => notices.idle()), this.#ticking]), late])
    stop()
    notices.close()
    owed.stop()
    await store.close()
  }

  #counterOf<T extends QuotaName>(owner: string, options: T, names: readonly (keyof T & string)[]): QuotaCounter {
    return this.#parts.counts.of(optionsOf<T>(owner, options, ['policy', 'scope', ...names]))
  }

  #change<R>(counter: QuotaCounter, key: string, apply: (account: Account) => R): Promise<R> {
    return this.#parts.store.change(accountOf({ key, counter }), counter.terms, { apply })
  }

  #changeOnce(
    id: AccountId,
    { terms }: QuotaCounter,
    token: string,
    change: (account: Account) => void,
  ): Promise<boolean> {
    const apply = (account: Account): boolean => {
      change(account)
      return true
    }
    return this.#parts.store.change(id, terms, { token, apply, used: () => false })
  }

  async #tick(): Promise<void> {
    const { store, counts, notices, table } = this.#parts
    if (counts.names.length === 0) return
    try {
      for (const id of await table.due(counts.names, DUE_AT_ONCE)) {
        const counter = counts.byName(id.name)
        // what has ended is settled before any change
        if (counter) store.change(id, counter.terms, { apply: () => {} }).catch(() => {})
      }
      await notices.deliverLate(counts.names)
    } catch {
      // the next tick comes
    }
  }
}

type Account = Parameters<typeof balanceOf>[0]

function partsOf(deps: QuotasDeps): QuotaParts {
  const { table, clock, waitMs, observers, onUsed } = deps
  const counts = new QuotaCounts()
  const policyOf = (name: string): string => counts.byName(name)?.compiled.policy.name ?? name
  const notices = new QuotaNotices({ table, clock, observers, policyOf, onUsed })
  const store = new AccountStore(table, { clock, waitMs, noticed: (written) => void notices.deliver(written) })
  const lost = (units: number): void => observers.event('quota', { lost: units })
  return { ...deps, counts, notices, store, owed: new OwedUnits({ store, clock, lost }) }
}
