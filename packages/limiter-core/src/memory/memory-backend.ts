import { createKeyedHash, type KeyedHash } from '@sluice/keyed-hash'
import { infallible } from '../backend/infallible.ts'
import { isMissing, makeGood } from '../backend/make-good.ts'
import type {
  Answer,
  Backend,
  Charge,
  Clock,
  CompiledPolicy,
  CountedKey,
  Moment,
  Observer,
  PolicyVerdict,
  PriorUsage,
} from '../contracts.ts'
import type { SoleDecision } from '../decision/sole-decision.ts'
import { vetoed } from '../decision/verdict.ts'
import { badOption } from '../errors/bad-option.ts'
import { Observers } from '../observers/observers.ts'
import { optionsOf } from '../options/options.ts'
import { clockOf } from '../time/clock.ts'
import { type AnswerSource, FROM_MEMORY } from './answer-source.ts'
import { type CounterSlots, CountTable } from './count-table.ts'
import { MemoryCounter } from './memory-counter.ts'
import { MemoryDecision } from './memory-decision.ts'
import { MemoryVerdict } from './memory-verdict.ts'
import type { SlotRef } from './shard.ts'

export interface MemoryBackendOptions {
  /** Memory for all counts, in bytes. Default: 64 MiB; at least 64 KiB. One page per cell count is always kept. */
  readonly maxBytes?: number
  readonly clock?: Clock
}

const DEFAULT_MAX_BYTES = 64 * 2 ** 20
const LEAST_MAX_BYTES = 64 * 2 ** 10

/**
 * Counts in this process, exactly until `maxBytes` is used up. Then the least used keys are evicted first, and keys
 * that had used at least half of their limit are remembered in the tail, so that a client cannot free itself by
 * flooding. Synchronous; stores 54-bit keyed fingerprints instead of keys; has no timers.
 */
export function memoryBackend(options: MemoryBackendOptions = {}): Backend<Answer> {
  const { maxBytes = DEFAULT_MAX_BYTES, clock } = optionsOf('memoryBackend', options, ['maxBytes', 'clock'])
  if (!Number.isSafeInteger(maxBytes) || maxBytes < LEAST_MAX_BYTES) {
    throw badOption('memoryBackend: maxBytes', maxBytes, `a whole number from ${LEAST_MAX_BYTES}`)
  }
  return infallible(new MemoryBackend(maxBytes, clockOf(clock)))
}

/** Exported for mirrors, which store in it what they know about another backend. */
export class MemoryBackend implements Backend<Answer> {
  readonly name = 'memory'
  readonly synchronous = true
  readonly perProcess = true
  /** Source of the following answers. */
  source: AnswerSource
  readonly #clock: Clock
  readonly #hash: KeyedHash = createKeyedHash()
  readonly #table: CountTable
  // names have a seed of their own: a key must not reach another count by being written like its name
  readonly #names: KeyedHash = createKeyedHash()
  readonly #observers = new Observers()
  // reported when an answer is ready: an observer may take, and must not meet a table in the middle of its work
  readonly #unreported: Parameters<Observers['event']>[] = []

  constructor(maxBytes: number, clock: Clock, source: AnswerSource = FROM_MEMORY) {
    this.source = source
    this.#clock = clock
    this.#table = new CountTable(maxBytes, (...event) => this.#unreported.push(event))
  }

  /** Bytes of all keys. */
  get bytes(): number {
    return this.#table.bytes
  }

  open<P extends CompiledPolicy>(compiled: P, name: string): MemoryCounter<P> {
    this.#names.text(name)
    return new MemoryCounter(this, compiled, name, this.#table.open(compiled, name, this.#names.low, this.#names.high))
  }

  takeAll(charges: readonly Charge[], moment?: Moment): Answer {
    const now = this.#read(moment)
    for (const charge of charges) if (charge.known) this.#takeOver(charge, charge.known, now)
    return this.#answer(this.#takeEach(charges, now), now)
  }

  /** `take` of a counter. */
  takeOne({ slots }: MemoryCounter, key: string, cost: number, moment?: Moment): SoleDecision {
    const now = this.#read(moment)
    const table = this.#table
    const { compiled } = slots
    const { source } = this
    this.#hash.text(key)
    table.aim(slots, this.#hash.low, this.#hash.high)
    let slot = table.find(slots, now)
    const waitMs = compiled.waitMs(slot.cells, slot.at, now, cost)
    if (waitMs === 0 && cost > 0) {
      slot = table.hold(slots, slot, now)
      compiled.spend(slot.cells, slot.at, now, cost)
    }
    const remaining = compiled.remaining(slot.cells, slot.at, now)
    const resetAfterMs = compiled.resetAfterMs(slot.cells, slot.at, now)
    table.mark(slots, slot, now, remaining, resetAfterMs)
    if (this.#unreported.length > 0) this.#report()
    const shown = source.counted ? slots.shown : compiled
    return new MemoryDecision(source, shown, slot, now, remaining, waitMs, resetAfterMs)
  }

  peekAll(charges: readonly Charge[], moment?: Moment): Answer {
    const now = this.#read(moment)
    return this.#answer(this.#ask(charges, now, false), now)
  }

  adjustAll(charges: readonly Charge[], takenAt: number, moment?: Moment): Answer {
    const now = this.#read(moment)
    // a time in the future, or NaN, means now
    const then = Math.min(Number.isNaN(takenAt) ? now : takenAt, now)
    for (const charge of charges) if (charge.known) this.#takeOver(charge, charge.known, now)
    const verdicts = charges.map((charge) => this.#adjustOne(charge, then, now))
    return this.#answer(verdicts, now)
  }

  resetAll(keys: readonly CountedKey[]): void {
    const now = this.#read(undefined)
    for (const counted of keys) this.#table.reset(this.#aim(counted), now)
  }

  /** Returns the cells of a key, valid until the next call. Changes nothing. */
  look(counted: CountedKey, now: number): SlotRef {
    return this.#table.look(this.#aim(counted), now)
  }

  /** Sets a key to its known usage. An unused key is not stored. `by` adopts instead of the policy. */
  adopt(counted: CountedKey, known: PriorUsage, now: number, by?: Pick<CompiledPolicy, 'adopt'>): void {
    this.#table.adopt(this.#aim(counted), known, now, by)
    if (this.#unreported.length > 0) this.#report()
  }

  observe(observer: Observer): () => void {
    return this.#observers.add(observer)
  }

  close(): void {
    this.#observers.clear()
  }

  #takeOver(charge: Charge, known: PriorUsage, now: number): void {
    const slots = this.#aim(charge)
    const { compiled } = slots
    const looked = this.#table.look(slots, now)
    // NaN and Infinity would never expire
    const ends = known.resetAfterMs > 0 && known.resetAfterMs <= Number.MAX_SAFE_INTEGER
    if (!ends || !isMissing(compiled, looked.cells, looked.at, now, known)) return
    const slot = this.#table.hold(slots, this.#table.find(slots, now), now)
    const { cells, at } = slot
    makeGood(compiled, cells, at, now, known)
    this.#table.mark(slots, slot, now, compiled.remaining(cells, at, now), compiled.resetAfterMs(cells, at, now))
  }

  // read first and looked up again for spending: an insert may move or evict what was found before it
  #takeEach(charges: readonly Charge[], now: number): PolicyVerdict[] {
    const asked = this.#ask(charges, now, true)
    if (vetoed(asked)) return asked
    const spendAdvisory = asked.every((verdict) => verdict.allowed)
    return charges.map((charge, index) => {
      if (charge.advisory && !spendAdvisory) return asked[index]
      const slots = this.#aim(charge)
      let slot = this.#table.find(slots, now)
      if (charge.cost > 0) {
        slot = this.#table.hold(slots, slot, now)
        slots.compiled.spend(slot.cells, slot.at, now, charge.cost)
      }
      return this.#verdict(charge, slots, slot, now, 0)
    })
  }

  #ask(charges: readonly Charge[], now: number, mayRecall: boolean): PolicyVerdict[] {
    return charges.map((charge) => {
      const slots = this.#aim(charge)
      const slot = mayRecall ? this.#table.find(slots, now) : this.#table.look(slots, now)
      const waitMs = slots.compiled.waitMs(slot.cells, slot.at, now, charge.cost)
      return mayRecall ? this.#verdict(charge, slots, slot, now, waitMs) : verdictOf(charge, slot, now, waitMs)
    })
  }

  #adjustOne(charge: Charge, takenAt: number, now: number): PolicyVerdict {
    const { key, cost } = charge
    const table = this.#table
    const slots = this.#aim(charge)
    const { compiled } = slots
    let slot = table.find(slots, now)
    // a refund of an evicted key has no effect, and creates no key
    if (cost > 0) slot = table.hold(slots, slot, now)
    const moved = cost === 0 || !table.isHeld(slot) ? 0 : compiled.adjust(slot.cells, slot.at, now, cost, takenAt)
    if (moved < cost) {
      this.#unreported.push(['lateCharge', { policy: compiled.policy.name, key, units: cost - moved }])
    }
    return this.#verdict(charge, slots, slot, now, 0)
  }

  #verdict(charge: Charge, slots: CounterSlots, slot: SlotRef, now: number, waitMs: number): PolicyVerdict {
    const verdict = verdictOf(charge, slot, now, waitMs)
    this.#table.mark(slots, slot, now, verdict.remaining, verdict.resetAfterMs)
    return verdict
  }

  #answer(verdicts: PolicyVerdict[], now: number): Answer {
    if (this.#unreported.length > 0) this.#report()
    return { verdicts, takenAt: now, counted: this.source.counted, source: this.source.name }
  }

  /** A clock reading that is NaN is ignored. */
  #read(moment: Moment | undefined): number {
    const given = moment?.now ?? this.#clock.now()
    return Math.abs(given) <= Number.MAX_SAFE_INTEGER ? given : this.#clock.now()
  }

  /** Points the table at a key of a counter. */
  #aim({ key, counter }: CountedKey): CounterSlots {
    const { slots } = counter as MemoryCounter
    this.#hash.text(key)
    this.#table.aim(slots, this.#hash.low, this.#hash.high)
    return slots
  }

  #report(): void {
    for (const event of this.#unreported.splice(0)) this.#observers.event(...event)
  }
}

function verdictOf(
  { counter: { compiled }, advisory }: Charge,
  slot: SlotRef,
  now: number,
  waitMs: number,
): PolicyVerdict {
  const remaining = compiled.remaining(slot.cells, slot.at, now)
  return new MemoryVerdict(compiled, advisory === true, slot, now, remaining, waitMs)
}
