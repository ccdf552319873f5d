import type { CounterReading } from '@sluice/limiter-core'
import type { LedgerEntry } from '../ledger/counter-ledger.ts'

/** What a process knows of one counter: the total of the ledger, and its own units that are not part of it yet. */
export class CounterEntry {
  readonly id: string
  #total = 0
  #version = 0
  #updatedAt: number | undefined
  /** When the total was read, by the clock's `now`. */
  readAt: number = Number.NEGATIVE_INFINITY
  /** Counted since the last batch. */
  unsent = 0
  /** When the first unit of `unsent` was counted. */
  unsentSince = 0
  /** Counted before a reset of which nobody knows whether it was done: in no batch with what was counted since. */
  #sealed = 0
  #sealedSince = 0
  /** In the batch that is under way. */
  sending = 0
  sendingSince = 0
  /** Of groups that are not decided yet: how many, and what they add and take away at most. Part of no value. */
  #groups = 0
  #mayRise = 0
  #mayFall = 0
  /** How many totals were taken over. */
  learned = 0
  /** Reads of it that are not answered yet. */
  reads = 0
  /** While it is reset nothing of it is sent. */
  isBeingReset = false

  constructor(id: string) {
    this.id = id
  }

  get value(): number {
    return this.#total + this.owedUnits
  }

  /** Whether a batch that is under way has units of it. */
  get isSent(): boolean {
    return this.sending !== 0
  }

  /** Units that the ledger does not have. */
  get owedUnits(): number {
    return this.sending + this.#sealed + this.unsent
  }

  /** When the first of them was counted; infinite where there are none. */
  get owedSince(): number {
    const since = [
      this.sending === 0 ? Number.POSITIVE_INFINITY : this.sendingSince,
      this.#sealed === 0 ? Number.POSITIVE_INFINITY : this.#sealedSince,
      this.unsent === 0 ? Number.POSITIVE_INFINITY : this.unsentSince,
    ]
    return Math.min(...since)
  }

  /** Whether it has units that are in no batch. */
  get waits(): boolean {
    return this.unsent !== 0 || this.#sealed !== 0
  }

  /** False where the ledger has all of it, and nobody asks for it. */
  get isOwed(): boolean {
    return this.reads > 0 || this.waits || this.sending !== 0 || this.#groups !== 0 || this.isBeingReset
  }

  /** Whether `delta` more would still be a value, whichever of what is undecided counts. */
  holds(delta: number): boolean {
    const next = this.value + delta
    return [next, next + this.#mayRise, next + this.#mayFall].every(Number.isSafeInteger)
  }

  /** Leaves room for a group until that is decided. */
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

  /** What is counted from now on goes in a later batch than what was counted before. */
  seal(): void {
    if (this.unsent === 0) return
    if (this.#sealed === 0) this.#sealedSince = this.unsentSince
    this.#sealed += this.unsent
    this.unsent = 0
  }

  /** Moves what is unsent, or first what is sealed, into the batch that goes out now. False where there is nothing. */
  send(): boolean {
    const isSealed = this.#sealed !== 0
    this.sending = isSealed ? this.#sealed : this.unsent
    this.sendingSince = isSealed ? this.#sealedSince : this.unsentSince
    if (isSealed) this.#sealed = 0
    else this.unsent = 0
    return this.isSent
  }

  /** Forgets what is in no batch. Answers how much that was. */
  forget(): number {
    const units = this.unsent + this.#sealed
    this.unsent = 0
    this.#sealed = 0
    return units
  }

  #change(amount: number, sign: 1 | -1): void {
    this.#groups += sign
    // sums of two ranges are not exact
    if (this.#groups === 0) this.#mayRise = this.#mayFall = 0
    else if (amount > 0) this.#mayRise += sign * amount
    else this.#mayFall += sign * amount
  }

  /**
   * Takes over what the ledger has, unless that is older than what is known. What was asked after that was known is not
   * older, even with a lower version: the ledger may be that of a backup. `askedAt`: `learned`, as it was then.
   */
  learn({ value, version, updatedAt }: LedgerEntry, now: number, askedAt?: number): void {
    if (version < this.#version && askedAt !== this.learned) return
    this.learned++
    this.#total = value
    this.#version = version
    this.#updatedAt = updatedAt
    this.readAt = now
  }

  reading(): CounterReading {
    return { id: this.id, value: this.value, version: this.#version, updatedAt: this.#updatedAt }
  }
}
