import { afterThisTurn } from '../clock.ts'
import type { Clock } from '../contracts.ts'

/** What becomes of a promise. Exactly one is called, and what it answers is the answer. */
export interface Outcome<T, R> {
  /** It was fulfilled in time. */
  came(value: T): R
  /** It was rejected in time. */
  failed(error: unknown): R
  late(): R
}

/** One wait in the list of them, until it ends. */
interface Wait {
  readonly dueAt: number
  readonly late: () => void
  waits: boolean
  before: Wait | undefined
  after: Wait | undefined
}

/** A timer that runs so much late says that the process stood still, and that answers may lie unread. */
const OVERSLEPT_MS = 5

/** Waits of equal length on promises that may never settle: one timer for all of them, since the oldest ends first. */
export class Deadlines {
  readonly #clock: Clock
  readonly #ms: number
  // linked in the order in which they end: a Set of what lives so briefly made a third of all garbage outlive its scavenge
  #first: Wait | undefined
  #last: Wait | undefined
  #pending = 0
  #cancel: (() => void) | undefined

  constructor(clock: Clock, ms: number) {
    this.#clock = clock
    this.#ms = ms
  }

  /** Waits that have not ended. */
  get pending(): number {
    return this.#pending
  }

  /** What becomes of `promise`, from `now` on. */
  race<T, R>(promise: Promise<T>, outcome: Outcome<T, R>, now: number = this.#clock.now()): Promise<R> {
    return new Promise((resolve, reject) => {
      const settle = (answer: () => R): void => {
        try {
          resolve(answer())
        } catch (error) {
          reject(error)
        }
      }
      const wait = this.#begin(now + this.#ms, () => settle(() => outcome.late()))
      promise.then(
        (value) => this.#end(wait) && settle(() => outcome.came(value)),
        (error) => this.#end(wait) && settle(() => outcome.failed(error)),
      )
    })
  }

  /** Ends all waits as late, and the timer. */
  close(): void {
    this.#cancel?.()
    this.#cancel = undefined
    for (let wait = this.#first; wait; wait = this.#first) {
      this.#end(wait)
      wait.late()
    }
  }

  #begin(dueAt: number, late: () => void): Wait {
    const wait: Wait = { dueAt, late, waits: true, before: this.#last, after: undefined }
    if (this.#last) this.#last.after = wait
    else this.#first = wait
    this.#last = wait
    this.#pending++
    this.#cancel ??= this.#clock.after(this.#ms, this.#sweep)
    return wait
  }

  /** False where it has ended before. */
  #end(wait: Wait): boolean {
    if (!wait.waits) return false
    const { before, after } = wait
    if (before) before.after = after
    else this.#first = after
    if (after) after.before = before
    else this.#last = before
    wait.waits = false
    wait.before = undefined
    wait.after = undefined
    this.#pending--
    return true
  }

  readonly #sweep = (): void => {
    const overslept = this.#first !== undefined && this.#clock.now() - this.#first.dueAt > OVERSLEPT_MS
    // timers come before what was received: whatever arrived while the process stood still is in time
    if (overslept) afterThisTurn(this.#endLate)
    else this.#endLate()
  }

  readonly #endLate = (): void => {
    this.#cancel = undefined
    for (let wait = this.#first; wait; wait = this.#first) {
      const leftMs = wait.dueAt - this.#clock.now()
      if (leftMs > 0) {
        this.#cancel = this.#clock.after(leftMs, this.#sweep)
        return
      }
      this.#end(wait)
      wait.late()
    }
  }
}
