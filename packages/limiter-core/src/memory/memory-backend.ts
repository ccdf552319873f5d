import { AVAILABLE_AFTER, NUMBERS, REMAINING, RESET_AFTER, WAIT } from '../algorithms/verdict-numbers.ts'
import type {
  Answer,
  Backend,
  Charge,
  Clock,
  CompiledPolicy,
  CountedKey,
  Moment,
  Observer,
  Policy,
  PolicyVerdict,
  PriorUsage,
} from '../contracts.ts'
import { SoleDecision } from '../decision/sole-decision.ts'
import { ChargeVerdict, RequestDecision } from '../decision/verdict.ts'
import { Observers } from '../observers/observers.ts'
import { type AnswerSource, FROM_MEMORY } from './answer-source.ts'
import { type CounterSlots, CountTable } from './count-table.ts'
import { neededUnits, releaseUnits, takeUnits } from './held-charge.ts'
import { MemoryCounter, slotsOf } from './memory-counter.ts'
import { RequestRows } from './request-rows.ts'
import type { SlotRef } from './shard.ts'

/** The backend of `memoryBackend`. Mirrors store the last known counts of another backend in it. */
export class MemoryBackend implements Backend<Answer> {
  readonly name = 'memory'
  readonly synchronous = true
  readonly perProcess = true
  readonly keepsHolds = true
  readonly booksTurns = true
  /** Source of all further answers. */
  source: AnswerSource
  readonly #clock: Clock
  readonly #table: CountTable
  readonly #numbers = new Float64Array(NUMBERS)
  readonly #rows: RequestRows
  readonly #observers = new Observers()
  // reported after an answer is complete: an observer may take, which must not happen during a change of the table
  readonly #unreported: Parameters<Observers['event']>[] = []

  constructor(maxBytes: number, clock: Clock, source: AnswerSource = FROM_MEMORY) {
    this.source = source
    this.#clock = clock
    this.#table = new CountTable(maxBytes, (...event) => this.#unreported.push(event))
    this.#rows = new RequestRows(this.#table)
  }

  /** Bytes of all keys. */
  get bytes(): number {
    return this.#table.bytes
  }

  open<P extends CompiledPolicy>(compiled: P, name: string): MemoryCounter<P> {
    return new MemoryCounter(this, compiled, name, this.#table.open(compiled, name))
  }

  takeAll(charges: readonly Charge[], moment?: Moment): Answer {
    const now = this.#read(moment)
    this.#restore(charges, now)
    return this.#answer(this.#takeEach(charges, now), now)
  }

  /** Implements `take` and `takeAdvisory` of a counter. */
  takeOne(
    { slots }: MemoryCounter,
    key: string,
    cost: number,
    moment: Moment | undefined,
    isAdvisory: boolean,
  ): SoleDecision | RequestDecision {
    const now = this.#read(moment)
    this.#takeUnits(slots, this.#table.find(slots, key, now), now, cost, undefined, isAdvisory)
    if (this.#unreported.length > 0) this.#report()
    const { policy } = slots.compiled
    const numbers = this.#numbers
    const waitMs = numbers[WAIT]
    // shadow mode does not deny
    if (isAdvisory && waitMs > 0) return this.#answer([this.#verdict(policy, true)], now)
    const { name, counted } = this.source
    const left = numbers[REMAINING]
    const resetMs = numbers[RESET_AFTER]
    return new SoleDecision(name, policy, left, waitMs, resetMs, now, numbers[AVAILABLE_AFTER], counted, isAdvisory)
  }

  peekAll(charges: readonly Charge[], moment?: Moment): Answer {
    const now = this.#read(moment)
    const verdicts = charges.map((charge) => {
      const slots = slotsOf(charge.counter)
      const slot = this.#table.look(slots, charge.key, now)
      const needed = neededUnits(charge, slots.compiled, slot, now)
      const waitMs = slots.compiled.waitMs(slot.cells, slot.at, now, needed)
      this.#writeNumbers(slots, slot, now, waitMs, needed)
      return this.#written(charge)
    })
    return this.#answer(verdicts, now)
  }

  adjustAll(charges: readonly Charge[], takenAt: number, moment?: Moment): Answer {
    const now = this.#read(moment)
    const then = Number.isNaN(takenAt) ? now : takenAt
    this.#restore(charges, now)
    const verdicts = charges.map((charge) => this.#adjustOne(charge, then, now))
    return this.#answer(verdicts, now)
  }

  resetAll(keys: readonly CountedKey[]): void {
    const now = this.#read(undefined)
    for (const { key, counter } of keys) this.#table.reset(slotsOf(counter), key, now)
  }

  /** Returns the slot of a key for reading, valid until the next call. Changes nothing. */
  look({ key, counter }: CountedKey, now: number): SlotRef {
    return this.#table.look(slotsOf(counter), key, now)
  }

  /** Sets a key to its known usage. A key without usage is not inserted. `by` replaces `adopt` of the policy. */
  adopt({ key, counter }: CountedKey, known: PriorUsage, now: number, by?: Pick<CompiledPolicy, 'adopt'>): void {
    this.#table.adopt(slotsOf(counter), key, known, now, by)
    if (this.#unreported.length > 0) this.#report()
  }

  observe(observer: Observer): () => void {
    return this.#observers.add(observer)
  }

  close(): void {
    this.#observers.clear()
  }

  /** Takes units if they fit, and writes the numbers of the verdict. */
  #takeUnits(
    slots: CounterSlots,
    found: SlotRef,
    now: number,
    cost: number,
    hold: Charge['hold'],
    isAdvisory: boolean,
  ): void {
    const { compiled } = slots
    const numbers = this.#numbers
    const table = this.#table
    let slot = found
    if (!hold && table.isStored(slot)) {
      compiled.take(slot.cells, slot.at, now, cost, numbers)
      if (numbers[WAIT] > 0 && compiled.bookings && !isAdvisory) {
        this.#book(slots, slot, now, cost)
        this.#writeNumbers(slots, slot, now, numbers[WAIT], cost)
      }
    } else slot = this.#takeInSteps(slots, slot, now, { cost, hold, advisory: isAdvisory })
    table.mark(slots, slot, now, numbers[REMAINING], numbers[RESET_AFTER])
  }

  /** Takes from a key that is not in the table, or for a hold. Returns the slot of the key. */
  #takeInSteps(slots: CounterSlots, found: SlotRef, now: number, charge: Omit<Charge, 'key' | 'counter'>): SlotRef {
    const { compiled } = slots
    const needed = neededUnits(charge, compiled, found, now)
    const waitMs = compiled.waitMs(found.cells, found.at, now, needed)
    let slot = found
    if (waitMs === 0 && charge.cost > 0) {
      slot = this.#table.ensureSlot(slots, found, now)
      takeUnits(charge, compiled, slot, now)
    } else if (waitMs > 0 && !charge.advisory) slot = this.#book(slots, slot, now, needed)
    this.#writeNumbers(slots, slot, now, waitMs, needed)
    return slot
  }

  /** Books the turn of a denied take, if its policy books turns. Returns the slot of the key. */
  #book(slots: CounterSlots, found: SlotRef, now: number, cost: number): SlotRef {
    if (!slots.compiled.bookings) return found
    const slot = this.#table.ensureSlot(slots, found, now)
    slots.compiled.bookings.book(slot.cells, slot.at, now, cost)
    return slot
  }

  /** Writes the numbers of a verdict to `#numbers`. */
  #writeNumbers({ compiled }: CounterSlots, { cells, at }: SlotRef, now: number, waitMs: number, cost: number): void {
    compiled.numbers(cells, at, now, cost, waitMs, this.#numbers)
  }

  /** Takes all enforced charges or none, and all advisory ones if everything fits. */
  #takeEach(charges: readonly Charge[], now: number): PolicyVerdict[] {
    const rows = this.#rows
    const last = rows.measure(charges, now) ? this.#takeRow(charges.length - 1, charges, now) : undefined
    if (last?.allowed === false) rows.doesNotFit(charges[charges.length - 1])
    const others = last ? charges.length - 1 : charges.length
    const verdicts: PolicyVerdict[] = []
    if (rows.fitsAll) for (let index = 0; index < others; index++) verdicts.push(this.#takeRow(index, charges, now))
    else this.#takeSome(charges.slice(0, others), now, verdicts)
    if (last) verdicts.push(last)
    return verdicts
  }

  /** Adds the verdicts of charges that do not all fit. */
  #takeSome(charges: readonly Charge[], now: number, verdicts: PolicyVerdict[]): void {
    // first those that are not taken: their verdicts do not include what the request takes from the same key
    for (const isTaken of [false, true]) {
      for (const [index, charge] of charges.entries()) {
        if (this.#rows.isTaken(charge) !== isTaken) continue
        verdicts[index] = isTaken ? this.#takeRow(index, charges, now) : this.#leave(index, charge, now)
      }
    }
  }

  #takeRow(index: number, charges: readonly Charge[], now: number): PolicyVerdict {
    const charge = charges[index]
    const slot = this.#rows.slotOf(index, charge, now)
    if (!this.#rows.isRepeated || charge.cost === 0) return this.#take(charge, slot, now)
    // charges of one key were measured before the first of them is taken
    const slots = slotsOf(charge.counter)
    const stored = this.#table.ensureSlot(slots, slot, now)
    const needed = neededUnits(charge, slots.compiled, stored, now)
    takeUnits(charge, slots.compiled, stored, now)
    return this.#marked(charge, stored, now, 0, needed)
  }

  /** Returns the verdict of a charge that is not taken. Books its turn if it is denied. */
  #leave(index: number, charge: Charge, now: number): PolicyVerdict {
    const rows = this.#rows
    const slot = rows.slotOf(index, charge, now)
    const waitMs = rows.waitMsOf(index)
    const slots = slotsOf(charge.counter)
    const needed = neededUnits(charge, slots.compiled, slot, now)
    const isBooked = rows.isDenied && waitMs > 0 && !charge.advisory
    const booked = isBooked ? this.#book(slots, slot, now, needed) : slot
    return this.#marked(charge, booked, now, waitMs, needed)
  }

  #take(charge: Charge, slot: SlotRef, now: number): PolicyVerdict {
    this.#takeUnits(slotsOf(charge.counter), slot, now, charge.cost, charge.hold, charge.advisory === true)
    return this.#written(charge)
  }

  /** Restores usage that the caller knows and that this backend has lost. */
  #restore(charges: readonly Charge[], now: number): void {
    for (let index = 0; index < charges.length; index++) {
      const { key, counter, known } = charges[index]
      if (known) this.#table.restore(slotsOf(counter), key, known, now)
    }
  }

  #adjustOne(charge: Charge, takenAt: number, now: number): PolicyVerdict {
    const { key, cost, hold } = charge
    const slots = slotsOf(charge.counter)
    const { compiled } = slots
    let slot = this.#table.find(slots, key, now)
    // a refund to an evicted key has no effect: it must not create a key
    if (cost > 0) slot = this.#table.ensureSlot(slots, slot, now)
    const isStored = this.#table.isStored(slot)
    if (isStored) releaseUnits(charge, compiled, slot, now)
    const at = hold ? now : takenAt
    const moved = cost === 0 || !isStored ? 0 : compiled.adjust(slot.cells, slot.at, now, cost, at)
    if (moved < cost) {
      this.#unreported.push(['lateCharge', { policy: compiled.policy.name, key, units: cost - moved }])
    }
    return this.#marked(charge, slot, now, 0, cost)
  }

  /** Returns the verdict of a charge, and marks its key in the table. */
  #marked(charge: Charge, slot: SlotRef, now: number, waitMs: number, needed: number): PolicyVerdict {
    const slots = slotsOf(charge.counter)
    this.#writeNumbers(slots, slot, now, waitMs, needed)
    this.#table.mark(slots, slot, now, this.#numbers[REMAINING], this.#numbers[RESET_AFTER])
    return this.#written(charge)
  }

  /** Returns the verdict whose numbers were just written. */
  #written({ counter, advisory }: Charge): PolicyVerdict {
    return this.#verdict(counter.compiled.policy, advisory === true)
  }

  #verdict(policy: Policy, isAdvisory: boolean): PolicyVerdict {
    const numbers = this.#numbers
    const left = numbers[REMAINING]
    return new ChargeVerdict(policy, isAdvisory, left, numbers[WAIT], numbers[RESET_AFTER], numbers[AVAILABLE_AFTER])
  }

  #answer(verdicts: PolicyVerdict[], now: number): RequestDecision {
    if (this.#unreported.length > 0) this.#report()
    const { counted, name } = this.source
    return new RequestDecision({ verdicts, takenAt: now, counted, source: name })
  }

  /** Returns the caller's time, or a new clock reading if that time is missing, NaN or beyond the safe integers. */
  #read(moment: Moment | undefined): number {
    const given = moment?.now ?? this.#clock.now()
    return Math.abs(given) <= Number.MAX_SAFE_INTEGER ? given : this.#clock.now()
  }

  #report(): void {
    for (const event of this.#unreported.splice(0)) this.#observers.event(...event)
  }
}
