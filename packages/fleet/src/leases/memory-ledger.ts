import {
  type Answer,
  type Backend,
  type BackendVerdict,
  type Charge,
  ChargeVerdict,
  type CompiledPolicy,
  type CountedKey,
  type Counter,
  hasDenial,
  type Moment,
  type Observer,
  retentionMs,
} from '@sluice/limiter-core/backend'
import { PlainCounter } from '../backend/plain-counter.ts'
import { type BookedLease, LeaseBook } from './lease-book.ts'
import {
  grantOf,
  isStale,
  LEASE_GRACE_FACTOR,
  type LeaseGrant,
  type LeaseLedger,
  type LeaseRequest,
  type LeaseTerms,
  leaseMsOf,
  spentSince,
} from './lease-ledger.ts'
import { ResetMarks } from './reset-marks.ts'

/** A counter of the ledger, with the counter of the memory backend below it. */
class LedgerCounter extends PlainCounter<Answer> {
  readonly memory: Counter<Answer>

  constructor(ledger: MemoryLedger, memory: Counter<Answer>) {
    super(ledger, memory.compiled, memory.name)
    this.memory = memory
  }
}

type LedgerKey = CountedKey<LedgerCounter>
type LedgerCharge = Charge<LedgerCounter>

/**
 * A ledger on top of a memory backend, which stores the charged units. The ledger itself stores only leases. It is also
 * a backend for which leased units count as used.
 */
export class MemoryLedger implements Backend<Answer>, LeaseLedger {
  readonly name: string
  readonly synchronous = true
  readonly #memory: Backend<Answer>
  readonly #terms: LeaseTerms
  readonly #now: () => number
  readonly #book: LeaseBook
  readonly #marks: ResetMarks = new ResetMarks()

  constructor(name: string, memory: Backend<Answer>, terms: LeaseTerms, now: () => number) {
    this.name = name
    this.#memory = memory
    this.#terms = terms
    this.#now = now
    this.#book = new LeaseBook((charge, endedAt, at) =>
      memory.adjustAll([inMemory(charge as LedgerCharge)], endedAt, { now: at }),
    )
  }

  /** Number of keys with a current lease, or one that ended within the last minute. */
  get keys(): number {
    return this.#book.size
  }

  open(compiled: CompiledPolicy, name: string): LedgerCounter {
    return new LedgerCounter(this, this.#memory.open(compiled, name))
  }

  request(asks: readonly LeaseRequest[]): readonly LeaseGrant[] {
    const now = this.#now()
    return asks.map((ask) => this.#ask(ask, now))
  }

  /** Charges all expired leases. Other methods charge only the leases of the keys that they are called for. */
  sweep(): void {
    this.#book.settleAll(this.#now())
  }

  takeAll(requested: readonly Charge[], moment?: Moment): Answer {
    const now = moment?.now ?? this.#now()
    const charges = this.#withoutOldUsage(requested as readonly LedgerCharge[], now)
    if (this.#onLease(charges, now) === 0) return this.#withSource(this.#memory.takeAll(charges.map(inMemory), { now }))
    for (const charge of charges) if (charge.known) this.#memory.takeAll([{ ...inMemory(charge), cost: 0 }], { now })
    const looked = this.peekAll(charges, { now })
    if (hasDenial(looked.verdicts)) return looked
    const allFit = looked.verdicts.every((verdict) => verdict.allowed)
    const standing = charges.filter(({ advisory }) => allFit || !advisory)
    // the known usage has been restored above, and units that were admitted elsewhere would be counted again
    const taken = this.#memory.takeAll(standing.map(withoutUsage), { now }).verdicts
    const verdicts = charges.map((charge, index) => {
      const at = standing.indexOf(charge)
      return at < 0 ? looked.verdicts[index] : this.#withLeases({ ...charge, cost: 0 }, taken[at], now)
    })
    return { ...looked, verdicts }
  }

  peekAll(requested: readonly Charge[], moment?: Moment): Answer {
    const charges = requested as readonly LedgerCharge[]
    const now = moment?.now ?? this.#now()
    // by the ledger's clock, because the caller's time may be in the future
    for (const charge of charges) this.#book.settle(charge, this.#now())
    const answer = this.#memory.peekAll(charges.map(inMemory), { now })
    const verdicts = answer.verdicts.map((verdict, index) => this.#withLeases(charges[index], verdict, now))
    return this.#withSource({ ...answer, verdicts })
  }

  adjustAll(requested: readonly Charge[], takenAt: number, moment?: Moment): Answer {
    const now = moment?.now ?? this.#now()
    const charges = this.#withoutOldUsage(requested as readonly LedgerCharge[], now)
    this.#onLease(charges, now)
    const answer = this.#memory.adjustAll(charges.map(inMemory), takenAt, { now })
    const verdicts = answer.verdicts.map((verdict, index) =>
      this.#withLeases({ ...charges[index], cost: 0 }, verdict, now),
    )
    return this.#withSource({ ...answer, verdicts })
  }

  /** Resets keys. Units that are leased stay used until they are charged or returned. */
  resetAll(requested: readonly CountedKey[]): void {
    const keys = requested as readonly LedgerKey[]
    const now = this.#now()
    for (const target of keys) {
      this.#book.settle(target, now)
      this.#marks.note(target, now)
    }
    this.#memory.resetAll(keys.map(({ key, counter }) => ({ key, counter: counter.memory })))
  }

  observe(observer: Observer): () => void {
    return this.#memory.observe?.(observer) ?? (() => {})
  }

  close(): void {
    this.#memory.close?.()
  }

  #ask(ask: LeaseRequest, now: number): LeaseGrant {
    this.#book.settle(ask, now)
    const lease = this.#book.of(ask, ask.owner)
    const stale = isStale(ask, lease)
    if (!stale) this.#report(ask, lease, now)
    const { remaining, resetAfterMs, availableAfterMs } = this.#memory.peekAll([chargeOf(ask, 0)], { now }).verdicts[0]
    const free = Math.max(0, remaining - this.#book.units(ask))
    const granted = stale ? 0 : grantOf(ask, free, this.#terms.fraction)
    const retryAfterMs =
      free >= ask.need ? 0 : this.#waitMs({ ...ledgerKey(ask), cost: ask.need }, this.#book.units(ask), now)
    if (granted > 0) this.#lend(ask, ask.keep + granted, now)
    const charged = ask.counter.compiled.capacity - remaining
    return { granted, free: free - granted, charged, retryAfterMs, resetAfterMs, availableAfterMs, now }
  }

  /** Charges the units that the owner spent and that were not charged yet, and sets its lease to the kept units. */
  #report(ask: LeaseRequest, lease: BookedLease | undefined, now: number): void {
    const { keep } = ask
    const known = this.#marks.since(ask, ask.known, now)
    if (known) this.#memory.takeAll([{ ...chargeOf(ask, 0), known }], { now })
    const spent = spentSince(ask, lease)
    const settled = lease && !this.#marks.isVoid(ask, lease.endsAt) ? lease.settled : 0
    const units = spent - settled
    if (units > 0) this.#memory.adjustAll([chargeOf(ask, units)], now, { now })
    else if (lease && units < 0) this.#memory.adjustAll([chargeOf(ask, units)], lease.endsAt, { now })
    // also without units, because a request whose reply is lost is repeated
    if (lease || keep > 0 || spent > 0) this.#lend(ask, keep, now)
  }

  #lend(ask: LeaseRequest, units: number, now: number): void {
    const endsAt = now + leaseMsOf(ask.counter.compiled, this.#terms) * LEASE_GRACE_FACTOR
    this.#book.write(ask, ask.owner, { units, endsAt, seq: ask.seq, base: ask.base, charged: ask.spent, settled: 0 })
  }

  /** Returns the charges without known usage from before a reset. */
  #withoutOldUsage(charges: readonly LedgerCharge[], now: number): readonly LedgerCharge[] {
    if (charges.every(({ known }) => !known)) return charges
    return charges.map((charge) => ({ ...charge, known: this.#marks.since(charge, charge.known, now) }))
  }

  /** Charges the ended leases of these keys and returns their leased units. */
  #onLease(targets: readonly CountedKey[], now: number): number {
    let units = 0
    for (const target of targets) {
      this.#book.settle(target, now)
      units += this.#book.units(target)
    }
    return units
  }

  /**
   * Converts a verdict about charged units into a verdict in which leased units count as used. Ended leases that were
   * not charged count for as long as they would if they had been charged.
   */
  #withLeases(charge: LedgerCharge, verdict: BackendVerdict, now: number): BackendVerdict {
    const units = this.#book.units(charge, now - retentionMs(charge.counter.compiled))
    if (units === 0) return verdict
    const { counter, advisory, cost } = charge
    const remaining = Math.max(0, verdict.remaining - units)
    const waitMs = cost <= remaining ? 0 : this.#waitMs(charge, units, now)
    const growsMs = this.#waitMs({ ...charge, cost: remaining + 1 }, units, now)
    return new ChargeVerdict(
      counter.compiled.policy,
      advisory === true,
      remaining,
      waitMs,
      verdict.resetAfterMs,
      growsMs,
    )
  }

  /**
   * Returns the milliseconds until a cost that does not fit because of the leases may fit. Assumes that leases are
   * neither spent nor returned before they end.
   */
  #waitMs(charge: LedgerCharge, units: number, now: number): number {
    const { capacity } = charge.counter.compiled
    const cost = charge.cost > capacity ? charge.cost : Math.min(capacity, charge.cost + units)
    const [{ retryAfterMs }] = this.#memory.peekAll([{ ...inMemory(charge), cost }], { now }).verdicts
    const endsAt = this.#book.firstEnd(charge)
    return retryAfterMs > 0 || endsAt === undefined ? retryAfterMs : Math.max(1, Math.ceil(endsAt - now))
  }

  #withSource(answer: Answer): Answer {
    return { ...answer, source: this.name }
  }
}

function ledgerKey({ key, counter }: CountedKey): LedgerKey {
  return { key, counter: counter as LedgerCounter }
}

/** Creates a charge for the memory backend. */
function chargeOf(ask: CountedKey, cost: number): Charge {
  return inMemory({ ...ledgerKey(ask), cost })
}

/** Returns the charge with the counter of the memory backend, and without prior usage. */
function withoutUsage(charge: LedgerCharge): Charge {
  return { ...inMemory(charge), known: undefined }
}

/** Returns the charge with the counter of the memory backend. */
function inMemory(charge: LedgerCharge): Charge {
  return { ...charge, counter: charge.counter.memory }
}
