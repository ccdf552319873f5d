import type { Clock, TimerOptions } from '../../contracts.ts'
import { afterThisTurn } from '../../time/clock.ts'

/** Handlers of a promise. Exactly one of them is called, and its result is the result of the race. */
export interface Outcome<T, R> {
  /** The promise resolved in time. */
  answered(value: T): R
  /** The promise rejected in time. */
  failed(error: unknown): R
  /** The deadline passed. */
  late(): R
}

/** An entry in the list of waits. An object with methods, because a closure per outcome costs more than a decision. */
class Wait<T, R> {
  readonly dueAt: number
  waits = true
  before: Wait<unknown, unknown> | undefined
  after: Wait<unknown, unknown> | undefined
  readonly #outcome: Outcome<T, R>
  readonly #resolve: (answer: R) => void
  readonly #reject: (error: unknown) => void

  constructor(dueAt: number, outcome: Outcome<T, R>, resolve: (answer: R) => void, reject: (error: unknown) => void) {
    this.dueAt = dueAt
    this.#outcome = outcome
    this.#resolve = resolve
    this.#reject = reject
  }

  /** Calls the handler of an outcome, and settles the race with its result. */
  settle(outcome: keyof Outcome<T, R>, value?: unknown): void {
    try {
      this.#resolve(this.#outcome[outcome](value as T))
    } catch (error) {
      this.#reject(error)
    }
  }
}

type AnyWait = Wait<unknown, unknown>

/** If a timer fires later than this, the process was suspended, and replies may be waiting to be read. */
const OVERSLEPT_MS = 5

/** Waits of equal length for promises that may never settle. One timer serves all: the oldest wait ends first. */
export class Deadlines {
  readonly #clock: Clock
  readonly #ms: number
  // a list in the order of the deadlines: a Set of such short-lived objects made a third of the garbage survive a
  // minor garbage collection
  #first: AnyWait | undefined
  #last: AnyWait | undefined
  #pending = 0
  #cancel: (() => void) | undefined
  readonly #timer: TimerOptions | undefined

  /** Pass `KEEP_ALIVE` as `timer` if the promises are awaited, so that the timer keeps the process alive. */
  constructor(clock: Clock, ms: number, timer?: TimerOptions) {
    this.#clock = clock
    this.#ms = ms
    this.#timer = timer
  }

  /** Number of waits that have not ended. */
  get pending(): number {
    return this.#pending
  }

  /** Returns the outcome of `promise`, with a deadline that starts at `now`. */
  race<T, R>(promise: Promise<T>, outcome: Outcome<T, R>, now: number = this.#clock.now()): Promise<R> {
    return new Promise((resolve, reject) => {
      const wait = new Wait(now + this.#ms, outcome, resolve, reject)
      this.#begin(wait as AnyWait)
      promise.then(
        (value) => {
          if (this.#end(wait as AnyWait)) wait.settle('answered', value)
        },
        (error) => {
          if (this.#end(wait as AnyWait)) wait.settle('failed', error)
        },
      )
    })
  }

  /** Returns a promise that settles like `promise`, or rejects with the code `LATE` after the deadline. */
  inTime<T>(promise: Promise<T>): Promise<T> {
    return this.race<T, T | Promise<never>>(promise, {
      answered: (value) => value,
      failed: (error) => Promise.reject(error),
      late: () => Promise.reject({ code: 'LATE' }),
    }) as Promise<T>
  }

  /** Ends all waits as late and stops the timer. */
  close(): void {
    this.#disarm()
    for (let wait = this.#first; wait; wait = this.#first) {
      this.#end(wait)
      wait.settle('late')
    }
  }

  #begin(wait: AnyWait): void {
    wait.before = this.#last
    if (this.#last) this.#last.after = wait
    else this.#first = wait
    this.#last = wait
    this.#pending++
    if (this.#cancel === undefined) this.#arm(this.#ms)
  }

  /** Removes a wait. Returns false if it has already ended. */
  #end(wait: AnyWait): boolean {
    if (!wait.waits) return false
    const { before, after } = wait
    if (before) before.after = after
    else this.#first = after
    if (after) after.before = before
    else this.#last = before
    wait.waits = false
    wait.before = undefined
    wait.after = undefined
    // a timer without waits would keep the process alive
    if (--this.#pending === 0) this.#disarm()
    return true
  }

  #arm(ms: number): void {
    const cancel = this.#clock.after(ms, this.#sweep, this.#timer)
    // a user-provided clock may have called the timer at once
    if (this.#pending > 0) this.#cancel = cancel
  }

  #disarm(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  readonly #sweep = (): void => {
    const overslept = this.#first !== undefined && this.#clock.now() - this.#first.dueAt > OVERSLEPT_MS
    // timers run before received data is read: replies that arrived while the process was suspended are in time
    if (overslept) afterThisTurn(this.#endLate)
    else this.#endLate()
  }

  readonly #endLate = (): void => {
    // if the sweep was postponed, another timer may have been set in the meantime
    this.#disarm()
    for (let wait = this.#first; wait; wait = this.#first) {
      const leftMs = wait.dueAt - this.#clock.now()
      if (leftMs > 0) {
        this.#arm(leftMs)
        return
      }
      this.#end(wait)
      wait.settle('late')
    }
  }
}
