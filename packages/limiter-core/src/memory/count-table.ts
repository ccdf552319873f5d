import { lacksUsage, restoreUsage } from '../backend/restore-usage.ts'
import { storedName } from '../backend/stored-name.ts'
import type { CompiledPolicy, ObserverEvent, PolicyVariant, PriorUsage } from '../contracts.ts'
import { createKeyedHash, type KeyedHash } from '../keyed-hash/index.ts'
import { Arena } from './arena.ts'
import { Budget } from './budget.ts'
import { FRACTION, TAG, TAIL_BITS, withTail } from './page-layout.ts'
import { formsOf, Recall } from './recall.ts'
import { RehashBuffer } from './rehash-buffer.ts'
import type { SlotRef } from './shard.ts'
import { Tails } from './tails.ts'
import { RECALLED, Ticks } from './ticks.ts'

/** Part of the budget that is reserved for the tails. */
const TAIL_SHARE = 1 / 14
/** Buffer that is kept for moving keys, at most a sixty-fourth of the budget; a move may temporarily need more. */
const REHASH_BYTES = 512 * 1024
const REHASH_SHARE = 1 / 64
const REPORT_EVERY_MS = 1_000
/**
 * Names have a separate seed: otherwise a key that is spelled like a name could select the slots of another count. It
 * need not be secret, because the hash of the key, which is combined with it, has a secret seed.
 */
const NAMES_SEED = Uint8Array.from('limiter-core names', (character) => character.charCodeAt(0))

type Report = (name: ObserverEvent, data: Readonly<Record<string, unknown>>) => void

/** Locates the slots of one counter: the arena for its number of cells, and a salt for the hash of the key. */
export interface CounterSlots {
  readonly compiled: CompiledPolicy
  /** The policy whose usage the tail remembers: `compiled` without booked turns. It uses the first cells of a key. */
  readonly usage: CompiledPolicy
  readonly arena: Arena
  readonly low: number
  /** Includes the number of the tail of this count: a flood of one policy does not degrade the tails of others. */
  readonly high: number
  /** 255ths of the capacity in one unit. */
  readonly fractionOfUnit: number
  /** `keptMs` of a policy with several variants, or `untilNextMs` of its bookings; undefined for other policies. */
  readonly keptMs: CompiledPolicy['keptMs'] | undefined
  /** The variants of the policy, or the policy itself. */
  readonly forms: readonly PolicyVariant[]
}

/** The slot of a key with the hash of the key, valid until a key is inserted. */
export interface Row extends SlotRef {
  low: number
  high: number
}

/**
 * The counts of all policies of a backend: one arena per number of cells, a budget for all arenas, and tails that
 * remember evicted keys. `find` and `look` select a key and return its slot, which is valid until the next call; the
 * methods with a slot belong to the key that was selected last.
 */
export class CountTable {
  readonly #hash: KeyedHash = createKeyedHash()
  readonly #names: KeyedHash = createKeyedHash(NAMES_SEED)
  readonly #arenas = new Map<number, Arena>()
  readonly #rehash: RehashBuffer
  readonly #budget: Budget
  readonly #report: Report
  readonly #tails: Tails
  readonly #recall: Recall
  readonly #ticks = new Ticks()
  /** Number of keys that were inserted. */
  inserts = 0
  #low = 0
  #high = 0
  #evictions = 0
  #reportedAt = Number.NEGATIVE_INFINITY
  #reportedEvictions = 0
  #reportedSpilled = 0
  #now = 0

  constructor(maxBytes: number, report: Report) {
    this.#tails = new Tails(maxBytes * TAIL_SHARE)
    this.#recall = new Recall(this.#tails.memory, this.#ticks)
    const rehashBytes = Math.min(REHASH_BYTES, maxBytes * REHASH_SHARE)
    this.#rehash = new RehashBuffer(rehashBytes)
    this.#budget = new Budget(maxBytes * (1 - TAIL_SHARE) - rehashBytes)
    this.#report = report
  }

  /** Bytes of all pages. */
  get bytes(): number {
    return this.#budget.spent
  }

  /** Returns the slots of a counter. */
  open(compiled: CompiledPolicy, name: string): CounterSlots {
    // as in other backends, cells of another form have another name
    this.#names.text(storedName(name, compiled))
    const { low, high } = this.#names
    let arena = this.#arenas.get(compiled.cells)
    if (!arena) {
      arena = new Arena(compiled.cells, this.#budget, this.#rehash, (...evicted) => this.#evicted(...evicted))
      this.#arenas.set(compiled.cells, arena)
    }
    const tail = this.#tails.numberOf(name, high)
    const { bookings } = compiled
    // the tail would restore a key as used until its slot expires, so a slot does not wait for the whole queue
    const keptMs = bookings ? bookings.untilNextMs.bind(bookings) : compiled.variants && compiled.keptMs.bind(compiled)
    return {
      compiled,
      usage: bookings?.inner ?? compiled,
      arena,
      low,
      high: withTail(high, tail),
      fractionOfUnit: FRACTION / compiled.capacity,
      keptMs,
      forms: formsOf(bookings?.inner ?? compiled),
    }
  }

  /** Returns the slot of a key. A key that only the tail remembers is inserted into the table again. */
  find(slots: CounterSlots, key: string, now: number): SlotRef {
    this.#hash.text(key)
    return this.#stored(slots) ?? this.#recalled(slots, now) ?? this.#recall.unusedSlot(slots)
  }

  /** Like `find`, and copies the slot to `row`. `isSame`: whether the key was also the last one. */
  findRow(slots: CounterSlots, key: string, now: number, row: Row, isSame: boolean): void {
    if (!isSame) this.#hash.text(key)
    const stored = this.#stored(slots)
    const { words, word, expiry, cells, at } = stored ?? this.#recalled(slots, now) ?? this.#recall.unusedSlot(slots)
    // every write of a pointer costs the garbage collector work
    if (row.cells !== cells) {
      row.words = words
      row.cells = cells
    }
    row.word = word
    row.expiry = expiry
    row.at = at
    row.low = this.#low
    row.high = this.#high
  }

  /** Selects the key of a row, and returns the row. */
  select(row: Row): Row {
    this.#low = row.low
    this.#high = row.high
    return row
  }

  /** Returns the slot of a key for reading. Changes nothing. */
  look(slots: CounterSlots, key: string, now: number): SlotRef {
    this.#hash.text(key)
    const stored = this.#stored(slots)
    if (stored) return stored
    const nothing = this.#recall.unusedSlot(slots)
    if (this.#remembers(now)) this.#recall.write(slots, nothing, now)
    return nothing
  }

  /** Returns a slot that can be written: `slot`, as returned by `find`, or a new one if the key has none. */
  ensureSlot(slots: CounterSlots, slot: SlotRef, now: number): SlotRef {
    return this.isStored(slot) ? slot : this.#insert(slots, now)
  }

  isStored(slot: SlotRef): boolean {
    return slot.words.length > 0
  }

  /** Stores how much usage an eviction of the key would forget, and when the key expires; both select the victim. */
  mark(slots: CounterSlots, slot: SlotRef, now: number, remaining: number, resetAfterMs: number): void {
    const { words } = slot
    if (words.length === 0) return
    const { compiled, usage } = slots
    const used = compiled.capacity - (usage === compiled ? remaining : usage.remaining(slot.cells, slot.at, now))
    if ((words[slot.expiry] & RECALLED) !== 0 && this.#markRecalled(slots, slot, now, used)) return
    const fraction = Math.ceil(used * slots.fractionOfUnit)
    words[slot.word + TAG] = (this.#high & ~FRACTION) | Math.min(FRACTION, fraction)
    // usage may matter longer to other plans than to the one that was checked
    const keptMs = slots.keptMs === undefined ? resetAfterMs : slots.keptMs(slot.cells, slot.at, now)
    words[slot.expiry] = this.#ticks.until(now + keptMs)
  }

  /** Sets a key to its known usage. A key without usage is not inserted. `by` replaces `adopt` of the policy. */
  adopt(
    slots: CounterSlots,
    key: string,
    known: PriorUsage,
    now: number,
    by: Pick<CompiledPolicy, 'adopt'> = slots.compiled,
  ): void {
    let slot = this.find(slots, key, now)
    if (known.used > 0) slot = this.ensureSlot(slots, slot, now)
    if (!this.isStored(slot)) return
    const { cells, at } = slot
    by.adopt(cells, at, now, known.used, known.resetAfterMs)
    this.#markRead(slots, slot, now)
  }

  /** Restores usage of a key that was lost. Inserts the key if it lacks any of it. */
  restore(slots: CounterSlots, key: string, known: PriorUsage, now: number): void {
    const { compiled } = slots
    const looked = this.look(slots, key, now)
    // NaN and Infinity would never expire
    const ends = known.resetAfterMs > 0 && known.resetAfterMs <= Number.MAX_SAFE_INTEGER
    if (!ends || !lacksUsage(compiled, looked.cells, looked.at, now, known)) return
    const slot = this.ensureSlot(slots, this.find(slots, key, now), now)
    restoreUsage(compiled, slot.cells, slot.at, now, known)
    this.#markRead(slots, slot, now)
  }

  reset(slots: CounterSlots, key: string, now: number): void {
    const slot = this.find(slots, key, now)
    if (!this.isStored(slot)) return
    if (this.#remembers(now)) this.#tails.forget(this.#low, this.#high)
    slot.cells.fill(0, slot.at, slot.at + slots.compiled.cells)
    this.mark(slots, slot, now, slots.compiled.capacity, 0)
  }

  #markRead(slots: CounterSlots, slot: SlotRef, now: number): void {
    const { cells, at } = slot
    this.mark(slots, slot, now, slots.compiled.remaining(cells, at, now), slots.compiled.resetAfterMs(cells, at, now))
  }

  /** Selects the key that was hashed last, and returns its slot in the table. */
  #stored(slots: CounterSlots): SlotRef | undefined {
    const hash = this.#hash
    // 0 marks an empty slot
    this.#low = hash.low ^ slots.low || 1
    this.#high = (hash.high & ~TAIL_BITS) ^ slots.high
    const { arena } = slots
    return arena.find(this.#low, this.#high) ? arena.place : undefined
  }

  /** Marks a key that the tail also remembers. Returns false if the tail has forgotten the key. */
  #markRecalled(slots: CounterSlots, slot: SlotRef, now: number, used: number): boolean {
    if (!this.#remembers(now)) return false
    const { units, expiry } = this.#recall.missing(slots, slot, now, used)
    const fraction = Math.ceil(units * slots.fractionOfUnit)
    slot.words[slot.word + TAG] = (this.#high & ~FRACTION) | Math.min(FRACTION, fraction)
    slot.words[slot.expiry] = expiry | RECALLED
    return true
  }

  #insert({ arena }: CounterSlots, now: number): SlotRef {
    this.inserts++
    this.#now = now
    this.#ticks.startAt(now)
    arena.insert(this.#low, this.#high, this.#ticks.at(now))
    return arena.place
  }

  #remembers(now: number): boolean {
    return this.#tails.remembers(this.#low, this.#high, this.#ticks.at(now))
  }

  #recalled(slots: CounterSlots, now: number): SlotRef | undefined {
    if (!this.#remembers(now)) return undefined
    const { fraction, expiry } = this.#tails.memory
    const slot = this.#insert(slots, now)
    // the insert may have spilled another key into the tail and changed what is remembered of this one
    this.#tails.memory.fraction = fraction
    this.#tails.memory.expiry = expiry
    this.#recall.write(slots, slot, now)
    slot.words[slot.expiry] |= RECALLED
    return slot
  }

  #evicted(low: number, tag: number, expiry: number): void {
    this.#evictions++
    this.#tails.spill(low, tag, expiry, this.#ticks.at(this.#now))
    if (this.#now < this.#reportedAt + REPORT_EVERY_MS) return
    this.#reportedAt = this.#now
    const { spilled } = this.#tails
    this.#report('evicted', { keys: this.#evictions, added: this.#evictions - this.#reportedEvictions })
    if (spilled > 0) this.#report('tail', { keys: spilled, added: spilled - this.#reportedSpilled })
    this.#reportedEvictions = this.#evictions
    this.#reportedSpilled = spilled
  }
}
