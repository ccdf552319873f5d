import type { CounterReading } from '@sluice/fleet/backend'
import type { LedgerEntry } from '../ledger/counter-ledger.ts'

/** A counter in this process: the last known total of the ledger and the process's own units that are not in it yet. */
export class CounterEntry {
  readonly id: string
  #total = 0
  #version = 0
  #updatedAt: number | undefined
  /** When the total was read, as `clock.now()`. */
  readAt: number = Number.NEGATIVE_INFINITY
  /** Units counted since the last batch. */
  unsent = 0
  /** When the first unit of `unsent` was counted. */
  unsentSince = 0
  /**
   * Units counted before a reset with unknown outcome. They are never in a batch with units counted after that reset.
   */
  #sealed = 0
  #sealedSince = 0
  /** Units in the batch under way. */
  sending = 0
  sendingSince = 0
  /**
   * Number of undecided groups with this id, and the most they may add and subtract. They are not part of the value.
   */
  #groups = 0
  #mayRise = 0
  #mayFall = 0
  /** Number of totals accepted from the ledger. */
  acceptedTotals = 0
  /** Number of reads under way. */
  reads = 0
  /** Whether the counter is being reset; then none of its units is sent. */
  isBeingReset = false

  constructor(id: string) {
    this.id = id
  }

  get value(): number {
    return this.#total + this.owedUnits
  }

  /** Whether the batch under way has units of the counter. */
  get isSent(): boolean {
    return this.sending !== 0
  }

  /** Units that the ledger does not have. */
  get owedUnits(): number {
    return this.sending + this.#sealed + this.unsent
  }

  /** When the oldest of `owedUnits` was counted; Infinity if there are none. */
  get owedSince(): number {
    const since = [
      this.sending === 0 ? Number.POSITIVE_INFINITY : this.sendingSince,
      this.#sealed === 0 ? Number.POSITIVE_INFINITY : this.#sealedSince,
      this.unsent === 0 ? Number.POSITIVE_INFINITY : this.unsentSince,
    ]
    return Math.min(...since)
  }

  /** Whether the counter has units that are not in a batch. */
  get waits(): boolean {
    return this.unsent !== 0 || this.#sealed !== 0
  }

  /** Whether the entry must stay in memory: it has unwritten units, or a read, group or reset is under way. */
  get isOwed(): boolean {
    return this.reads > 0 || this.waits || this.sending !== 0 || this.#groups !== 0 || this.isBeingReset
  }

  /** Whether adding `delta` keeps the value within its range, whichever undecided groups count. */
  hasRoomFor(delta: number): boolean {
    const next = this.value + delta
    return [next, next + this.#mayRise, next + this.#mayFall].every(Number.isSafeInteger)
  }

  /** Reserves room for a group until it is decided. */
  reserve(amount: number): void {
    this.#change(amount, 1)
  }

  release(amount: number): void {
    this.#change(amount, -1)
  }

  add(delta: number, now: number): void {
    if (this.unsent === 0) this.unsentSince = now
    this.unsent += delta
  }

  /** Keeps the units counted so far and units counted later in different batches. */
  seal(): void {
    if (this.unsent === 0) return
    if (this.#sealed === 0) this.#sealedSince = this.unsentSince
    this.#sealed += this.unsent
    this.unsent = 0
  }

  /** Moves the sealed units, or else the unsent units, into the batch. Returns false if there are none. */
  send(): boolean {
    const isSealed = this.#sealed !== 0
    this.sending = isSealed ? this.#sealed : this.unsent
    this.sendingSince = isSealed ? this.#sealedSince : this.unsentSince
    if (isSealed) this.#sealed = 0
    else this.unsent = 0
    return this.isSent
  }

  /** Discards the units that are not in a batch and returns their sum. */
  discardUnits(): number {
    const units = this.unsent + this.#sealed
    this.unsent = 0
    this.#sealed = 0
    return units
  }

  #change(amount: number, sign: 1 | -1): void {
    this.#groups += sign
    // additions and subtractions may have left a rounding error
    if (this.#groups === 0) this.#mayRise = this.#mayFall = 0
    else if (amount > 0) this.#mayRise += sign * amount
    else this.#mayFall += sign * amount
  }

  /**
   * Accepts a total of the ledger unless it is older than the known one. A lower version is accepted if no total was
   * accepted since the request (`requestedAt` is the value of `acceptedTotals` at that time), because the ledger may have been
   * restored from a backup.
   */
  acceptTotal({ value, version, updatedAt }: LedgerEntry, now: number, requestedAt?: number): void {
    if (version < this.#version && requestedAt !== this.acceptedTotals) return
    this.acceptedTotals++
    this.#total = value
    this.#version = version
    this.#updatedAt = updatedAt
    this.readAt = now
  }

  reading(): CounterReading {
    return { id: this.id, value: this.value, version: this.#version, updatedAt: this.#updatedAt }
  }
}
