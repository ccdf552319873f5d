import type { QuotaTable, StoredNotice } from '@sluice/counters/backend'
import { settledWithin } from '@sluice/fleet/backend'
import { type LeaseTerms, LeasingBackend } from '@sluice/fleet/leases'
import {
  type Clock,
  type MaybePromise,
  type Metric,
  type MetricSource,
  type Observer,
  type Observers,
  optionsOf,
} from '@sluice/limiter-core/backend'
import { AccountGroups } from './account/account-groups.ts'
import type { ReservationEnd } from './account/account-reservations.ts'
import { AccountStore } from './account/account-store.ts'
import { AccountWrites } from './account/account-writes.ts'
import { DatabaseTime } from './account/database-time.ts'
import type { QuotaAccount } from './account/quota-account.ts'
import { TimedQuotaTable } from './account/timed-quota-table.ts'
import { ExactQuotas } from './exact-quotas.ts'
import { OpenQuotas, type QuotaName } from './open-quotas.ts'
import { OwedUnits } from './owed-units.ts'
import { balanceOf, type QuotaBalance } from './quota-balance.ts'
import { accountOf, type QuotaCounter } from './quota-counter.ts'
import { QuotaCredits, type StrandedLease } from './quota-credits.ts'
import { forecastOf, measuredFrom, type QuotaForecast } from './quota-forecast.ts'
import { QuotaLedger } from './quota-ledger.ts'
import { QuotaMaintenance } from './quota-maintenance.ts'
import { QuotaMetrics } from './quota-metrics.ts'
import { QuotaNotices, type QuotaUsed } from './quota-notices.ts'
import {
  type RefundOptions,
  type ReserveOptions,
  refundedOf,
  reservedOf,
  type TopUpOptions,
  tokenOf,
  topUpOf,
  unitsOf,
} from './quota-options.ts'
import { QuotaReports, type QuotaUsage, type UsageOptions, usageOptions } from './quota-reports.ts'
import { type QuotaReservation, QuotaReservations } from './quota-reservations.ts'
import { openParts, type WaterfallInput } from './waterfall/open-parts.ts'
import { Waterfall } from './waterfall/waterfall.ts'

const CLOSE_MS = 1_000

export interface QuotasDeps {
  readonly table: QuotaTable
  readonly clock: Clock
  readonly waitMs: number
  readonly terms: LeaseTerms
  readonly observers: Observers
  /** Percentages of the included units at which notices are written, in ascending order. */
  readonly thresholds: readonly number[]
  readonly onUsed: ((notice: QuotaUsed) => MaybePromise<void>) | undefined
}

interface QuotaParts extends QuotasDeps {
  readonly time: DatabaseTime
  readonly store: AccountStore
  readonly groups: AccountGroups
  readonly counts: OpenQuotas
  readonly owed: OwedUnits
  readonly notices: QuotaNotices
}

/**
 * Calendar quotas in a database, spent from leases. Created by `createQuotas`; the backend of policies from `quota`.
 */
export class Quotas extends LeasingBackend implements MetricSource {
  readonly #parts: QuotaParts
  readonly #exact: ExactQuotas
  readonly #credits: QuotaCredits
  readonly #reservations: QuotaReservations
  readonly #reports: QuotaReports
  readonly #metrics: QuotaMetrics
  readonly #maintenance: QuotaMaintenance

  constructor(deps: QuotasDeps) {
    const parts = partsOf(deps)
    const { store, counts, owed, clock, time, terms, table, thresholds, observers } = parts
    const name = 'quotas'
    const opened = (counter: QuotaCounter): (() => void) => counts.add(counter)
    const zoneFailed = (error: unknown): void => observers.event('hookFailed', { hook: 'timeZone', error })
    const exact = new ExactQuotas({ name, store, clock, time, owed, opened, thresholds, zoneFailed })
    super({ name, exact, ledger: new QuotaLedger(store, terms), terms, keepsCalendars: true, clock })
    this.#parts = parts
    this.#exact = exact
    this.#credits = new QuotaCredits(store, table)
    this.#reservations = new QuotaReservations(store, table)
    this.#reports = new QuotaReports(table)
    this.#metrics = new QuotaMetrics(owed)
    this.#maintenance = new QuotaMaintenance(parts)
  }

  /**
   * Returns the balance of a key under the plan that it used last, or under the plan with the smallest limit if it is
   * new.
   */
  balance(key: string, options: QuotaName = {}): Promise<QuotaBalance> {
    const counter = this.#counterOf('balance', options, [])
    return this.#opened(counter, key, balanceOf)
  }

  /**
   * Returns when a key will have used all units of its period at its pace in this period. Units that processes have
   * spent from leases are counted when they are reported, within about `leaseMs`.
   */
  async forecast(key: string, options: QuotaName = {}): Promise<QuotaForecast> {
    const counter = this.#counterOf('forecast', options, [])
    const [balance, now] = await this.#opened(counter, key, (account) => [balanceOf(account), account.now] as const)
    const lines = await this.#reports.hours(counter, key, { from: measuredFrom(balance, now), to: now + 1 })
    return forecastOf({ balance, lines, now })
  }

  /** Adds units that are spent after the included units. Returns false if the token was already used. */
  async topUp(key: string, units: number, options: TopUpOptions): Promise<boolean> {
    const counter = this.#counterOf('topUp', options, ['token', 'expiresAt'])
    return this.#credits.topUp(counter, key, topUpOf(units, options))
  }

  /** Gives used units back, at most as many as the period has. Returns false if the token was already used. */
  async refund(key: string, units: number, options: RefundOptions): Promise<boolean> {
    const counter = this.#counterOf('refund', options, ['token', 'at'])
    const refunded = refundedOf(units, options)
    // units that are spent but not reported are not used yet, so they could not be given back
    await this.reported({ key, counter })
    return this.#credits.refund(counter, key, refunded)
  }

  /** Reserves units. Returns undefined if they do not fit. */
  reserve(key: string, units: number, options: ReserveOptions = {}): Promise<QuotaReservation | undefined> {
    const counter = this.#counterOf('reserve', options, ['ttlMs', 'id'])
    return this.#reservations.reserve(counter, key, reservedOf(units, options))
  }

  /**
   * Charges the units that were used of a reservation, by default all of them, and releases the rest. Units beyond the
   * reservation are charged, too. Returns how the reservation ended, now or earlier. Rejects with
   * `SLUICE_NO_RESERVATION` if the key has no such reservation.
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

  /** Releases a reservation. Returns how it ended, now or earlier. Rejects with `SLUICE_NO_RESERVATION`. */
  void(key: string, id: string, options: QuotaName = {}): Promise<ReservationEnd> {
    return this.#reservations.end(this.#counterOf('void', options, []), key, tokenOf('void', id), 0)
  }

  /** Opens a waterfall over checked parts; see `waterfall`. */
  openWaterfall(parts: readonly WaterfallInput[], scope: string): Waterfall {
    const { counts, groups } = this.#parts
    const opened = openParts(parts, scope, { exact: this.#exact, opened: (counter) => counts.add(counter) })
    return new Waterfall(opened, groups)
  }

  /** Returns the usage of a key by hour, day, week or month. */
  async usage(key: string, options: UsageOptions): Promise<readonly QuotaUsage[]> {
    const checked = usageOptions('usage', options)
    const spans: QuotaUsage[] = []
    for await (const span of this.#reports.usage(this.#parts.counts.of(checked), key, checked)) spans.push(span)
    return spans
  }

  /** Returns the usage of all keys as chunks of CSV, e.g. for `Readable.from`. */
  csv(options: UsageOptions): AsyncIterable<string> {
    const checked = usageOptions('csv', options)
    return this.#reports.csv(this.#parts.counts.of(checked), checked)
  }

  /** Returns at most 1,000 leases that ended without a report and have charged units, the oldest first. */
  async stranded(options: QuotaName & { readonly key?: string | undefined } = {}): Promise<readonly StrandedLease[]> {
    return this.#credits.stranded(this.#counterOf('stranded', options, ['key']), options.key)
  }

  /**
   * Gives back the units charged for a lease without a report, once per lease. Returns the number of units given back:
   * at most as many as `stranded` lists for it.
   */
  async credit(lease: StrandedLease, options: QuotaName = {}): Promise<number> {
    unitsOf('credit', lease?.units)
    return this.#credits.credit(this.#counterOf('credit', options, []), lease)
  }

  metrics(): Iterable<Metric> {
    return this.#metrics.metrics()
  }

  override observe(observer: Observer): () => void {
    return this.#parts.observers.add(observer)
  }

  /** Resolves when no database call is under way. */
  async idle(): Promise<void> {
    await this.#maintenance.idle()
    await this.#parts.groups.idle()
    await this.#parts.store.idle()
    await this.#parts.notices.stored()
  }

  /**
   * Returns all leases and charges owed units, within about two seconds. Units that could not be charged by then are
   * reported in a `quota` event as `lost`. Afterwards nothing is sent, and calls that need the database reject. The
   * database client stays open.
   */
  override async close(): Promise<void> {
    this.#maintenance.stop()
    await super.close()
    const { owed, clock, notices, groups, store } = this.#parts
    const drained = owed.drained().then(() => notices.idle())
    const settled = Promise.all([drained, groups.idle(), this.#maintenance.idle()])
    await settledWithin(settled, CLOSE_MS, clock)
    notices.close()
    owed.stop()
    await store.close()
  }

  /** Reads the account of a key, opened under the plan that it used last. */
  #opened<R>(counter: QuotaCounter, key: string, read: (account: QuotaAccount) => R): Promise<R> {
    return this.#parts.store.change(accountOf({ key, counter }), counter.termsOf(key), {
      apply: (account) => read(account.open(account.lastLimit ?? counter.limit)),
    })
  }

  #counterOf<T extends QuotaName>(owner: string, options: T, names: readonly (keyof T & string)[]): QuotaCounter {
    return this.#parts.counts.of(optionsOf<T>(owner, options, ['policy', 'scope', ...names]))
  }
}

function partsOf(deps: QuotasDeps): QuotaParts {
  const { clock, waitMs, observers, onUsed } = deps
  const table = new TimedQuotaTable(deps.table, clock, waitMs)
  const counts = new OpenQuotas()
  const policyOf = (name: string): string => counts.byName(name)?.compiled.policy.name ?? name
  const notices = new QuotaNotices({ table, clock, observers, policyOf, onUsed })
  const time = new DatabaseTime(clock)
  const onNotices = (written: readonly StoredNotice[]): void => void notices.deliver(written)
  const store = new AccountStore(new AccountWrites({ table, time, onNotices }))
  const groups = new AccountGroups({ table, time, waitMs, onNotices })
  const onLost = (units: number): void => observers.event('quota', { lost: units })
  return { ...deps, table, time, counts, notices, store, groups, owed: new OwedUnits({ store, clock, onLost }) }
}
