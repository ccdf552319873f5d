import type { AccountId, QuotaTable, StoredNotice, StrandedUnits } from '@sluice/counters/backend'
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
  repeatEvery,
} from '@sluice/limiter-core/backend'
import { creditLease } from './account/account-leases.ts'
import type { ReservationEnd } from './account/account-reservations.ts'
import { AccountStore } from './account/account-store.ts'
import { AccountWrites } from './account/account-writes.ts'
import { DatabaseTime } from './account/database-time.ts'
import { topUpEntry } from './account/top-ups.ts'
import { ExactQuotas } from './exact-quotas.ts'
import { OpenQuotas, type QuotaName } from './open-quotas.ts'
import { OwedUnits } from './owed-units.ts'
import { balanceOf, type QuotaBalance } from './quota-balance.ts'
import { accountOf, type QuotaCounter } from './quota-counter.ts'
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

/** Interval at which ended leases, undelivered notices and writes without a reply are handled. */
const TICK_MS = 5_000
const MAX_DUE = 256
const CLOSE_MS = 1_000

/** Units charged for a lease that ended without a report. They may not have been spent. */
export interface StrandedLease {
  /** The key, or `\\sha256:` and 43 characters for a key longer than 512 bytes, which is stored as its hash. */
  readonly key: string
  /** Local date on which the period began, e.g. `2026-11-01`. */
  readonly period: string
  /** Id of the lease. */
  readonly ref: string
  readonly units: number
  /** When the units were charged, in epoch ms. */
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
  readonly time: DatabaseTime
  readonly store: AccountStore
  readonly counts: OpenQuotas
  readonly owed: OwedUnits
  readonly notices: QuotaNotices
}

/**
 * Calendar quotas in a database, spent from leases. Created by `createQuotas`; the backend of policies from `quota`.
 */
export class Quotas extends LeasingBackend implements MetricSource {
  readonly #parts: QuotaParts
  readonly #reports: QuotaReports
  readonly #reservations: QuotaReservations
  readonly #metrics: QuotaMetrics
  readonly #stopTick: () => void
  #ticking: Promise<void> | undefined

  constructor(deps: QuotasDeps) {
    const parts = partsOf(deps)
    const { store, counts, owed, clock, time, terms, table } = parts
    const name = 'quotas'
    const exact = new ExactQuotas({ name, store, clock, time, owed, opened: (counter) => counts.add(counter) })
    super({ name, exact, ledger: new QuotaLedger(store, terms), terms, keepsCalendars: true, clock })
    this.#parts = parts
    this.#reports = new QuotaReports(table)
    this.#reservations = new QuotaReservations(store, table)
    this.#metrics = new QuotaMetrics(owed)
    this.#stopTick = repeatEvery(clock, TICK_MS, () => {
      // independent of the tick, which a call without a reply may block
      store.settleUnconfirmedWrites()
      this.#ticking ??= this.#tick().finally(() => {
        this.#ticking = undefined
      })
    })
  }

  /**
   * Returns the balance of a key under the plan that it used last, or under the plan with the smallest limit if it is
   * new.
   */
  balance(key: string, options: QuotaName = {}): Promise<QuotaBalance> {
    const counter = this.#counterOf('balance', options, [])
    return this.#change(counter, key, (account) => balanceOf(account.open(account.lastLimit ?? counter.limit)))
  }

  /** Adds units that are spent after the included units. Returns false if the token was already used. */
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

  /** Gives used units back, at most as many as the period has. Returns false if the token was already used. */
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

  /**
   * Gives back the units charged for a lease without a report, once per lease. Returns the number of units given back.
   */
  async credit({ key, ref, period, units }: StrandedLease, options: QuotaName = {}): Promise<number> {
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

  /** Resolves when no database call is under way. */
  async idle(): Promise<void> {
    await this.#ticking
    await this.#parts.store.idle()
  }

  /**
   * Returns all leases and charges owed units, within about two seconds. Units that could not be charged by then are
   * reported in a `quota` event as `lost`. Afterwards nothing is sent, and calls that need the database reject. The
   * database client stays open.
   */
  override async close(): Promise<void> {
    this.#stopTick()
    await super.close()
    const { owed, clock, notices, store } = this.#parts
    const settled = Promise.all([owed.drained().then(() => notices.idle()), this.#ticking])
    await settledWithin(settled, CLOSE_MS, clock)
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
      for (const id of await table.due(counts.names, MAX_DUE)) {
        const counter = counts.byName(id.name)
        // every change first settles ended leases and reservations, so an empty change is enough
        if (counter) store.change(id, counter.terms, { apply: () => {} }).catch(() => {})
      }
      await notices.deliverLate(counts.names)
    } catch {
      // retried at the next tick
    }
  }
}

type Account = Parameters<typeof balanceOf>[0]

function partsOf(deps: QuotasDeps): QuotaParts {
  const { table, clock, waitMs, observers, onUsed } = deps
  const counts = new OpenQuotas()
  const policyOf = (name: string): string => counts.byName(name)?.compiled.policy.name ?? name
  const notices = new QuotaNotices({ table, clock, observers, policyOf, onUsed })
  const time = new DatabaseTime(clock)
  const onNotices = (written: readonly StoredNotice[]): void => void notices.deliver(written)
  const store = new AccountStore(new AccountWrites({ table, clock, time, waitMs, onNotices }))
  const onLost = (units: number): void => observers.event('quota', { lost: units })
  return { ...deps, time, counts, notices, store, owed: new OwedUnits({ store, clock, onLost }) }
}
