import { clockOf } from '../clock.ts'
import type {
  Answer,
  Backend,
  Charge,
  Clock,
  Decision,
  Interruption,
  MaybePromise,
  Moment,
  Observer,
  Step,
} from '../contracts.ts'
import { type Duration, parseMs } from '../duration.ts'
import { SluiceError } from '../errors.ts'
import { GroupedBackend } from '../grouped-backend.ts'
import { andThen } from '../maybe-promise.ts'
import { shown } from '../shown.ts'
import { RequestDecision } from '../verdict.ts'
import { isLeased, type LeaseLedger, type LeaseTerms } from './lease-ledger.ts'
import { LeaseTable } from './lease-table.ts'
import { LeasedCharges } from './leased-charges.ts'
import { type TakeUnleased, UnleasedTakes } from './unleased-takes.ts'

export interface LeaseOptions {
  /** The largest part of a key's capacity that one process leases: more than 0, at most 0.5; default: 0.1. */
  readonly fraction?: number | undefined
  /** How long a lease lasts, in ms or as a duration: 100 to 60,000, an eighth of the window at most; default: 2,000. */
  readonly leaseMs?: Duration | undefined
}

/** The names of `LeaseOptions`, for `optionsOf`. */
export const LEASE_OPTIONS = ['fraction', 'leaseMs'] as const

/** The terms of options. Throws `SLUICE_BAD_OPTION`. */
export function leaseTermsOf(owner: string, { fraction = 0.1, leaseMs: given = 2_000 }: LeaseOptions): LeaseTerms {
  if (!(fraction > 0 && fraction <= 0.5)) {
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      `${owner}: fraction: got ${shown(fraction, 'fraction')}, expected more than 0, at most 0.5`,
    )
  }
  const leaseMs = typeof given === 'string' ? parseMs(given, `${owner}: leaseMs`) : given
  if (!(leaseMs >= 100 && leaseMs <= 60_000)) {
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      `${owner}: leaseMs: got ${shown(given, 'leaseMs')}, expected ms from 100 to 60000, or '500ms', '10s', '1m'`,
    )
  }
  return { fraction, leaseMs }
}

export interface LeasingDeps {
  readonly name: string
  /** Counts charges that are not leased, and what is adjusted and reset of those that are. */
  readonly exact: Backend
  readonly ledger: LeaseLedger
  /** Takes of keys that are not leased yet, where a take costs less than a lease. Without it each take is of a lease. */
  readonly takeUnleased?: TakeUnleased | undefined
  readonly terms: LeaseTerms
  readonly clock?: Clock | undefined
}

/**
 * Spends from leases where a policy is large enough to be leased, and asks `exact` where it is not. A request with both
 * takes all of them or none.
 */
export class LeasingBackend implements Backend {
  readonly name: string
  readonly identity: object | undefined
  readonly #exact: Backend
  readonly #ledger: LeaseLedger
  readonly #leased: LeasedCharges
  readonly #table: LeaseTable
  readonly #terms: LeaseTerms
  /** By count: how many of its steps are too small to be leased. Plans that share a count are leased all, or none is. */
  readonly #small = new Map<string, number>()

  constructor({ name, exact, ledger, takeUnleased, terms, clock }: LeasingDeps) {
    const itsClock = clockOf(clock)
    this.name = name
    this.#exact = exact
    this.identity = exact.identity
    this.#ledger = ledger
    this.#terms = terms
    this.#table = new LeaseTable(ledger, terms, itsClock)
    const unleased = takeUnleased && new UnleasedTakes(takeUnleased, terms)
    this.#leased = new LeasedCharges({ name, table: this.#table, exact, terms, clock: itsClock, unleased })
  }

  prepare(step: Step, count: string): () => void {
    const forget = this.#exact.prepare?.(step, count)
    const small = isLeased({ key: '', step }, this.#terms) ? 0 : 1
    this.#addSmall(count, small)
    let held = true
    return () => {
      if (held) this.#addSmall(count, -small)
      held = false
      forget?.()
    }
  }

  take(charges: readonly Charge[], moment?: Moment): MaybePromise<Answer> {
    return this.#home(charges).take(charges, moment)
  }

  takeOne(key: string, step: Step, count: string, cost: number, moment?: Moment): MaybePromise<Decision> {
    const charge = { key, step, count, cost }
    if (this.#isLeased(charge)) return this.#leased.takeCharge(charge, moment)
    if (this.#exact.takeOne) return this.#exact.takeOne(key, step, count, cost, moment)
    return andThen(this.#exact.take([charge], moment), (answer) => new RequestDecision(answer))
  }

  peek(charges: readonly Charge[], moment?: Moment): MaybePromise<Answer> {
    return this.#home(charges).peek(charges, moment)
  }

  adjust(charges: readonly Charge[], takenAt: number, moment?: Moment): MaybePromise<Answer> {
    return this.#home(charges).adjust(charges, takenAt, moment)
  }

  reset(targets: readonly Pick<Charge, 'key' | 'step' | 'count'>[]): MaybePromise<void> {
    return this.#leased.reset(targets)
  }

  observe(observer: Observer): () => void {
    return this.#exact.observe?.(observer) ?? (() => {})
  }

  takeHeld(charges: readonly Charge[]): Answer | undefined {
    return charges.every((charge) => this.#isLeased(charge)) ? this.#leased.takeHeld(charges) : undefined
  }

  interrupted(listener: (event: Interruption) => void): () => void {
    return this.#exact.interrupted?.(listener) ?? (() => {})
  }

  mayHaveLost(target: Pick<Charge, 'key' | 'step' | 'count'>, ageMs: number): boolean {
    const home = this.#isLeased(target) ? this.#ledger : this.#exact
    return home.mayHaveLost?.(target, ageMs) ?? false
  }

  /** Units on lease are spent when the answer comes, or not at all. */
  mayCountUnanswered(charge: Pick<Charge, 'key' | 'step' | 'count'>): boolean {
    return !this.#isLeased(charge) || this.#table.find(charge) === undefined
  }

  /** Gives all leases back. */
  async close(): Promise<void> {
    await this.#table.close()
    this.#ledger.close?.()
    await this.#exact.close?.()
  }

  #isLeased(charge: Pick<Charge, 'key' | 'step' | 'count'>): boolean {
    return isLeased(charge, this.#terms) && (this.#small.size === 0 || !this.#small.has(charge.count))
  }

  #addSmall(count: string, steps: number): void {
    const small = (this.#small.get(count) ?? 0) + steps
    if (small > 0) this.#small.set(count, small)
    else this.#small.delete(count)
  }

  #home(charges: readonly Charge[]): Backend {
    let leased = 0
    for (const charge of charges) if (this.#isLeased(charge)) leased++
    if (leased === charges.length) return this.#leased
    if (leased === 0) return this.#exact
    const homes = charges.map((charge) => [charge.step, this.#isLeased(charge) ? this.#leased : this.#exact] as const)
    // leases first: they are taken back without a round trip
    homes.sort(([, a], [, b]) => Number(b === this.#leased) - Number(a === this.#leased))
    return new GroupedBackend(new Map(homes))
  }
}
