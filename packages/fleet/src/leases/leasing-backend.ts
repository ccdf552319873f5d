import {
  type Answer,
  type Backend,
  badOption,
  type Charge,
  type Clock,
  type CompiledPolicy,
  type CountedKey,
  clockOf,
  type Decision,
  type Duration,
  GroupedBackend,
  type HeldUnits,
  type Interruption,
  type MaybePromise,
  type Moment,
  type Observer,
  parseMs,
  type RequestBackend,
} from '@sluice/limiter-core/backend'
import { isLeased, type LeaseLedger, type LeaseTerms, MAX_LEASED_KEY_LENGTH } from './lease-ledger.ts'
import { LeaseTable } from './lease-table.ts'
import { LeasedCharges } from './leased-charges.ts'
import { exactCharge, type LeasedCharge, LeasedCounter, type LeasedKey } from './leased-counter.ts'
import { type TakeUnleased, UnleasedTakes } from './unleased-takes.ts'

export interface LeaseOptions {
  /**
   * Maximum fraction of a key's capacity, and of its free units, that one process leases: above 0 and at most 0.5.
   * Default: 0.1.
   */
  readonly fraction?: number | undefined
  /**
   * Duration of a lease: milliseconds or a duration, from 100 ms to 1 min. It is shortened to an eighth of the window
   * if that is less. Default: 2 s.
   */
  readonly leaseMs?: Duration | undefined
}

/** The names of `LeaseOptions`, for `optionsOf`. */
export const LEASE_OPTIONS = ['fraction', 'leaseMs'] as const

/** Validates the options and adds defaults. Throws `SLUICE_BAD_OPTION`, or `SLUICE_BAD_DURATION` for a bad string. */
export function leaseTermsOf(owner: string, { fraction = 0.1, leaseMs: given = 2_000 }: LeaseOptions): LeaseTerms {
  if (!(fraction > 0 && fraction <= 0.5)) {
    throw badOption(`${owner}: fraction`, fraction, 'a number above 0 and at most 0.5')
  }
  const leaseMs = typeof given === 'string' ? parseMs(given, `${owner}: leaseMs`) : given
  if (!(leaseMs >= 100 && leaseMs <= 60_000)) {
    throw badOption(`${owner}: leaseMs`, given, 'a duration from 100 to 60000 ms')
  }
  return { fraction, leaseMs }
}

export interface LeasingDeps {
  readonly name: string
  /** Counts charges without a lease, adjusts takes and resets keys. */
  readonly exact: Backend
  /** Grants leases of the counters of `exact`. */
  readonly ledger: LeaseLedger
  /** Charges rarely used keys directly, which costs less than a lease. Without it, every take uses a lease. */
  readonly takeUnleased?: TakeUnleased | undefined
  readonly terms: LeaseTerms
  /** See `Backend.keepsCalendars`: whether both `exact` and the ledger support calendars. */
  readonly keepsCalendars?: boolean | undefined
  readonly clock?: Clock | undefined
}

/**
 * Spends from leases if a policy is large enough (see `isLeased`), and calls `exact` otherwise. A request with both
 * kinds of policies takes all charges or none.
 */
export class LeasingBackend implements Backend {
  readonly name: string
  readonly identity: object | undefined
  readonly keepsCalendars: boolean | undefined
  readonly keepsHolds: boolean | undefined
  readonly booksTurns: boolean | undefined
  /** Defined if `exact` defines it. */
  readonly passed?: NonNullable<Backend['passed']>
  readonly #exact: Backend
  readonly #ledger: LeaseLedger
  readonly #leased: LeasedCharges
  readonly #table: LeaseTable
  readonly #terms: LeaseTerms
  /**
   * Number of counters per name that are too small to be leased. Plans that share a count are either all leased or
   * not at all.
   */
  readonly #small = new Map<string, number>()

  constructor({ name, exact, ledger, takeUnleased, terms, keepsCalendars, clock }: LeasingDeps) {
    const checkedClock = clockOf(clock)
    this.name = name
    this.#exact = exact
    this.identity = exact.identity
    this.keepsCalendars = keepsCalendars
    this.keepsHolds = exact.keepsHolds
    this.booksTurns = exact.booksTurns
    if (exact.passed) this.passed = (charges, takenAt) => exact.passed?.(charges.map(asExact), takenAt)
    this.#ledger = ledger
    this.#terms = terms
    this.#table = new LeaseTable(ledger, terms, checkedClock)
    const unleased = takeUnleased && new UnleasedTakes(takeUnleased, terms)
    this.#leased = new LeasedCharges({ name, table: this.#table, exact, terms, clock: checkedClock, unleased })
  }

  open(compiled: CompiledPolicy, name: string, isOverride = false): LeasedCounter {
    const isLeasable = isLeased(compiled, this.#terms)
    // a small override of one key must not prevent leases of the other keys
    const small = isLeasable || isOverride ? 0 : 1
    const exact = this.#exact.open(compiled, name, isOverride)
    this.#addSmall(name, small)
    let isOpen = true
    return new LeasedCounter(this, exact, isLeasable, () => {
      if (isOpen) this.#addSmall(name, -small)
      isOpen = false
    })
  }

  takeAll(charges: readonly Charge[], moment?: Moment): MaybePromise<Answer> {
    const { backend, own } = this.#routeOf(charges as readonly LeasedCharge[])
    return backend.takeAll(own, moment)
  }

  /** `take` of a counter. */
  takeOne(counter: LeasedCounter, key: string, cost: number, moment?: Moment): MaybePromise<Decision> {
    const charge = { key, counter, cost }
    return this.#isLeased(charge) ? this.#leased.takeCharge(charge, moment) : counter.exact.take(key, cost, moment)
  }

  peekAll(charges: readonly Charge[], moment?: Moment): MaybePromise<Answer> {
    const { backend, own } = this.#routeOf(charges as readonly LeasedCharge[])
    return backend.peekAll(own, moment)
  }

  adjustAll(charges: readonly Charge[], takenAt: number, moment?: Moment): MaybePromise<Answer> {
    const { backend, own } = this.#routeOf(charges as readonly LeasedCharge[])
    return backend.adjustAll(own, takenAt, moment)
  }

  resetAll(keys: readonly CountedKey[]): MaybePromise<void> {
    return this.#leased.resetAll(keys)
  }

  observe(observer: Observer): () => void {
    return this.#exact.observe?.(observer) ?? (() => {})
  }

  takeHeld(requested: readonly Charge[]): Answer | undefined {
    const charges = requested as readonly LeasedCharge[]
    return charges.every((charge) => this.#isLeased(charge)) ? this.#leased.takeHeld(charges) : undefined
  }

  interrupted(listener: (event: Interruption) => void): () => void {
    return this.#exact.interrupted?.(listener) ?? (() => {})
  }

  mayHaveLost(requested: CountedKey, ageMs: number): boolean {
    const counted = requested as LeasedKey
    const source = this.#isLeased(counted) ? this.#ledger : this.#exact
    return source.mayHaveLost?.({ key: counted.key, counter: counted.counter.exact }, ageMs) ?? false
  }

  /** Whether an unanswered take may be counted: false for keys with a lease, which spend units only after the reply. */
  mayCountUnanswered(requested: CountedKey): boolean {
    const counted = requested as LeasedKey
    if (this.#isLeased(counted)) return this.#table.find(counted) === undefined
    return this.#exact.mayCountUnanswered?.({ key: counted.key, counter: counted.counter.exact }) ?? true
  }

  heldOf(requested: CountedKey): readonly HeldUnits[] {
    const held = this.#table.find(requested)?.lease.held(this.#table.now())
    return held ? [held] : []
  }

  /** Returns all leases to the ledger. */
  async close(): Promise<void> {
    await this.#table.close()
    this.#ledger.close?.()
    await this.#exact.close?.()
  }

  /**
   * Reports what this process has spent of a key to the ledger. Resolves when the ledger has replied or the report has
   * failed.
   */
  protected async reported(target: CountedKey): Promise<void> {
    const queue = this.#table.find(target)
    // a pending report may not include the last units
    await queue?.settled()
    if (queue?.lease.mustReport) queue.report(this.#table.now() + queue.lease.leaseMs)
    await queue?.settled()
  }

  #isLeased({ key, counter }: LeasedKey): boolean {
    if (!counter.isLeasable || key.length > MAX_LEASED_KEY_LENGTH) return false
    return this.#small.size === 0 || !this.#small.has(counter.name)
  }

  #addSmall(name: string, counters: number): void {
    const small = (this.#small.get(name) ?? 0) + counters
    if (small > 0) this.#small.set(name, small)
    else this.#small.delete(name)
  }

  /** Returns the backend for these charges, and the charges with its counters. */
  #routeOf(charges: readonly LeasedCharge[]): { readonly backend: RequestBackend; readonly own: readonly Charge[] } {
    const isLeased = charges.map((charge) => this.#isLeased(charge))
    if (!isLeased.includes(false)) return { backend: this.#leased, own: charges }
    const own = charges.map((charge, index) => (isLeased[index] ? charge : exactCharge(charge)))
    if (!isLeased.includes(true)) return { backend: this.#exact, own }
    const routes = own.map(({ counter }, index) => [counter, isLeased[index] ? this.#leased : this.#exact] as const)
    // leases first, because they are refunded without a round trip
    routes.sort(([, a], [, b]) => Number(b === this.#leased) - Number(a === this.#leased))
    return { backend: new GroupedBackend(new Map(routes)), own }
  }
}

function asExact(charge: Charge): Charge {
  return exactCharge(charge as LeasedCharge)
}
