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
  /** In the batch that is under way. */
  sending = 0
  sendingSince = 0
  /** Of groups that are not decided yet: how many, and what they add and take away at most. Part of no value. */
  #groups = 0
  #mayRise = 0
  #mayFall = 0
  /** While it is reset nothing of it is sent. */
  isBeingReset = false

  constructor(id: string) {
    this.id = id
  }

  get value(): number {
    return this.#total + this.sending + this.unsent
  }

  /** Whether a batch that is under way has units of it. */
  get isSent(): boolean {
    return this.sending !== 0
  }

  /** False where the ledger has all of it. */
  get isOwed(): boolean {
    return this.unsent !== 0 || this.sending !== 0 || this.#groups !== 0 || this.isBeingReset
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

  /** Moves what is unsent into the batch that goes out now. */
  send(): void {
    this.sending = this.unsent
    this.sendingSince = this.unsentSince
    this.unsent = 0
  }

  #change(amount: number, sign: 1 | -1): void {
    this.#groups += sign
    // sums of two ranges are not exact
    if (this.#groups === 0) this.#mayRise = this.#mayFall = 0
    else if (amount > 0) this.#mayRise += sign * amount
    else this.#mayFall += sign * amount
  }

  /** Takes over what the ledger has, unless that is older than what is known. */
  learn({ value, version, updatedAt }: LedgerEntry, now: number): void {
    if (version < this.#version) return
    this.#total = value
    this.#version = version
    this.#updatedAt = updatedAt
    this.readAt = now
  }

  reading(): CounterReading {
    return { id: this.id, value: this.value, version: this.#version, updatedAt: this.#updatedAt }
  }
}
