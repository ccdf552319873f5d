import type { ObserverEvent, PriorUsage, Step, StepVariant } from '../contracts.ts'
import { Arena } from './arena.ts'
import { Budget } from './budget.ts'
import { FRACTION, TAG, withTail } from './page-layout.ts'
import { formsOf, Recall } from './recall.ts'
import { RehashBuffer } from './rehash-buffer.ts'
import type { SlotRef } from './shard.ts'
import { Tails } from './tails.ts'
import { RECALLED, Ticks } from './ticks.ts'

/** A fourteenth of the budget is kept for the tails. */
const TAIL_SHARE = 1 / 14
/** What is kept for moving keys, a sixty-fourth at most; a move may need more while it lasts. */
const LUGGAGE_BYTES = 512 * 1024
const LUGGAGE_SHARE = 1 / 64
const REPORT_EVERY_MS = 1_000

type Report = (name: ObserverEvent, data: Readonly<Record<string, unknown>>) => void

/** Where the counts of one step lie: in the arena of its cells, its own salt over the hash of the key. */
export interface Lane {
  readonly step: Step
  readonly count: string
  readonly arena: Arena
  readonly low: number
  readonly high: number
  /** The tail that remembers keys of this count: a flood of one policy must not cloud the memory of the others. */
  readonly tail: number
  /** 255ths of the capacity in one unit. */
  readonly fractionOfUnit: number
  /** `keptMs` of a step of several variants. */
  readonly keptMs: Step['keptMs'] | undefined
  /** What the step counts. */
  readonly forms: readonly StepVariant[]
}

/**
 * The counts of all steps of a backend: one arena for each number of cells, a budget over them, tails behind them.
 * `aim` names a key; `find` or `look` answers the place of its numbers, which holds until the next of them.
 */
export class CountTable {
  readonly #arenas = new Map<number, Arena>()
  readonly #luggage: RehashBuffer
  readonly #budget: Budget
  readonly #report: Report
  readonly #tails: Tails
  readonly #recall: Recall
  readonly #absent: SlotRef
  readonly #ticks = new Ticks()
  #low = 0
  #high = 0
  #evictions = 0
  #reportedAt = Number.NEGATIVE_INFINITY
  #now = 0

  constructor(maxBytes: number, report: Report) {
    this.#tails = new Tails(maxBytes * TAIL_SHARE)
    this.#recall = new Recall(this.#tails.memory, this.#ticks)
    this.#absent = this.#recall.absent
    const luggageBytes = Math.min(LUGGAGE_BYTES, maxBytes * LUGGAGE_SHARE)
    this.#luggage = new RehashBuffer(luggageBytes)
    this.#budget = new Budget(maxBytes * (1 - TAIL_SHARE) - luggageBytes)
    this.#report = report
  }

  /** To be told of each reading of the clock, before it is used. */
  startAt(now: number): void {
    this.#ticks.startAt(now)
  }

  /** The lane of a step; `low` and `high` are the hash of the name of its count. */
  lane(step: Step, count: string, low: number, high: number): Lane {
    let arena = this.#arenas.get(step.cells)
    if (!arena) {
      arena = new Arena(step.cells, this.#budget, this.#luggage, (...evicted) => this.#evicted(...evicted))
      this.#arenas.set(step.cells, arena)
    }
    const tail = this.#tails.numberOf(count, high)
    const keptMs = step.variants && step.keptMs?.bind(step)
    return {
      step,
      count,
      arena,
      low,
      high,
      tail,
      fractionOfUnit: FRACTION / step.capacity,
      keptMs,
      forms: formsOf(step),
    }
  }

  /** Names a key of a lane by its hash. */
  aim(lane: Lane, low: number, high: number): void {
    // a slot of zeros is one without a key
    this.#low = low ^ lane.low || 1
    this.#high = withTail(high ^ lane.high, lane.tail)
  }

  /** The numbers of the key; one that is remembered by the tail alone is put back into the table. */
  find(lane: Lane, now: number): SlotRef {
    const { arena } = lane
    if (arena.find(this.#low, this.#high)) return arena.place
    return this.#recalled(lane, now) ?? this.#recall.nothing(lane)
  }

  /** The numbers of the key, to read: changes nothing. */
  look(lane: Lane, now: number): SlotRef {
    const { arena } = lane
    if (arena.find(this.#low, this.#high)) return arena.place
    const nothing = this.#recall.nothing(lane)
    if (this.#remembers(now)) this.#recall.write(lane, nothing, now)
    return nothing
  }

  /** Spends a cost that fits on the key that `find` answered; answers where its numbers are now. */
  spend(lane: Lane, place: SlotRef, now: number, cost: number): SlotRef {
    if (cost === 0) return place
    const held = this.hold(lane, place, now)
    lane.step.spend(held.cells, held.at, now, cost)
    return held
  }

  /** A place for the key that `find` answered, made for it where it had none. */
  hold(lane: Lane, place: SlotRef, now: number): SlotRef {
    return place === this.#absent ? this.#insert(lane, now) : place
  }

  isHeld(place: SlotRef): boolean {
    return place !== this.#absent
  }

  /** Writes what its eviction would forget of the key and when it will be free, for whoever has to choose a victim. */
  mark(lane: Lane, place: SlotRef, now: number, remaining: number, resetAfterMs: number): void {
    if (place === this.#absent) return
    const { words } = place
    const used = lane.step.capacity - remaining
    if ((words[place.expiry] & RECALLED) !== 0 && this.#markRecalled(lane, place, now, used)) return
    const fraction = Math.ceil(used * lane.fractionOfUnit)
    words[place.word + TAG] = (this.#high & ~FRACTION) | Math.min(FRACTION, fraction)
    // what is used may matter longer to other plans than to the one that asked
    const keptMs = lane.keptMs === undefined ? resetAfterMs : lane.keptMs(place.cells, place.at, now)
    words[place.expiry] = this.#ticks.until(now + keptMs)
  }

  /** Makes of the key what is known of it. A fresh one is not kept. `by` adopts in the place of the step. */
  adopt(lane: Lane, known: PriorUsage, now: number, by: Pick<Step, 'adopt'> = lane.step): void {
    let place = this.find(lane, now)
    if (known.used > 0) place = this.hold(lane, place, now)
    if (place === this.#absent) return
    const { cells, at } = place
    by.adopt(cells, at, now, known.used, known.resetAfterMs)
    this.mark(lane, place, now, lane.step.remaining(cells, at, now), lane.step.resetAfterMs(cells, at, now))
  }

  reset(lane: Lane, now: number): void {
    const place = this.find(lane, now)
    if (place === this.#absent) return
    if (this.#remembers(now)) this.#tails.forget(this.#low, this.#high)
    place.cells.fill(0, place.at, place.at + lane.step.cells)
    this.mark(lane, place, now, lane.step.capacity, 0)
  }

  /** Marks a key that the tail remembers, too; false where it has forgotten it. */
  #markRecalled(lane: Lane, place: SlotRef, now: number, used: number): boolean {
    if (!this.#remembers(now)) return false
    const { units, expiry } = this.#recall.lacked(lane, place, now, used)
    const fraction = Math.ceil(units * lane.fractionOfUnit)
    place.words[place.word + TAG] = (this.#high & ~FRACTION) | Math.min(FRACTION, fraction)
    place.words[place.expiry] = expiry | RECALLED
    return true
  }

  #insert({ arena }: Lane, now: number): SlotRef {
    this.#now = now
    arena.insert(this.#low, this.#high, this.#ticks.at(now))
    return arena.place
  }

  #remembers(now: number): boolean {
    return this.#tails.remembers(this.#low, this.#high, this.#ticks.at(now))
  }

  #recalled(lane: Lane, now: number): SlotRef | undefined {
    if (!this.#remembers(now)) return undefined
    const { fraction, expiry } = this.#tails.memory
    const place = this.#insert(lane, now)
    // the insert may itself have spilled a key into the tail, and so changed what is remembered of this one
    this.#tails.memory.fraction = fraction
    this.#tails.memory.expiry = expiry
    this.#recall.write(lane, place, now)
    place.words[place.expiry] |= RECALLED
    return place
  }

  #evicted(low: number, tag: number, expiry: number): void {
    this.#evictions++
    this.#tails.spill(low, tag, expiry, this.#ticks.at(this.#now))
    if (this.#now < this.#reportedAt + REPORT_EVERY_MS) return
    this.#reportedAt = this.#now
    this.#report('evicted', { keys: this.#evictions })
    if (this.#tails.spilled > 0) this.#report('tail', { keys: this.#tails.spilled })
  }
}
