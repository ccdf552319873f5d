import type { DenialReason } from '@sluice/limiter-core'
import { COHORTS, classOf, LEVELS } from './levels.ts'

/** Milliseconds after which the threshold is calculated again. */
const INTERVAL_MS = 100
/** Part of the requests that remains counted after an interval. */
const MEMORY = 0.85
/** Requests that are admitted under overload, per completed one: enough that no place is free for want of work. */
const ADMITTED = 1.1
/** Growth of what is admitted in an interval without overload. */
const RECOVERY = 1.3
/** Part of what was admitted that is still admitted an interval later. */
const LEAST_PART = 0.6
/** Intervals without a full cap after which there is no overload. */
const CALM_AFTER = 3
/** Intervals without a full cap after which there has been no overload for long. */
const LONG_CALM = 100
/** Parts of a limit that stay free: for each higher priority, and in the highest for clients below their share. */
const [RESERVED, RESERVED_OF_CUT] = [0.07, 0.12]
/** Part of a limit that must be free for requests below the threshold. */
const SPARE = 0.25
/** Part of what is admitted, by which the most important requests may exceed it: their number varies by chance. */
const SWAY = 1.3
/** Part of the critical requests without a place that remains counted: they show a lack of places for some seconds. */
const LOST_MEMORY = 0.97
/** The lowest level of critical requests. */
const CRITICAL = LEVELS - COHORTS
/** Levels of a priority by which clients with about the same usage differ: it varies by chance. */
const SWAYING = COHORTS / 8
/** A level with fewer recent requests has none. */
const MIN_COUNT = 0.05

/**
 * Decides which requests are refused at once because more important ones need the places. The threshold is calculated
 * from the recent requests by level: as many pass, most important first, as the service completes. It can be shared by
 * several caps of a process. It does not read a clock.
 */
export class RejectionThreshold {
  readonly #recent = new Float64Array(LEVELS)
  /** Milliseconds that `#recent` and `#completed` stand for. */
  #recentMs = 0
  #completed = 0
  /** Recent critical requests that got no place. */
  #lost = 0
  #admittedPerMs = Number.POSITIVE_INFINITY
  #wasFull = false
  #calmIntervals = LONG_CALM
  #nextAt: number
  /** The highest level with recent requests. */
  #highest = 0
  #startedAt: number
  #level = 0
  /** Part of the requests at `#level` that pass. */
  #passing = 1
  #due = 0

  constructor(now: number) {
    this.#startedAt = now
    this.#nextAt = now + INTERVAL_MS
  }

  /** Whether a cap was full a short time ago. */
  get isOverloaded(): boolean {
    return this.#wasFull || this.#calmIntervals < CALM_AFTER
  }

  /** Whether no cap has been full for 10 seconds. */
  isLongCalm(now: number): boolean {
    return !this.#wasFull && this.#calmIntervals + (now - this.#startedAt) / INTERVAL_MS >= LONG_CALM
  }

  /** Requests below this level are refused; 0 if none are. */
  get level(): number {
    return this.#level
  }

  /** Counts a request and returns whether it is refused. */
  refuses(level: number, now: number): boolean {
    if (now >= this.#nextAt) this.#calculate(now)
    else if (now < this.#startedAt) this.#startInterval(now)
    this.#recent[level] = (this.#recent[level] as number) + 1
    if (level !== this.#level) return level < this.#level
    if (this.#passing >= 1) return false
    // the requests that pass are evenly distributed over those that do not
    this.#due += this.#passing
    if (this.#due < 1) return true
    this.#due -= 1
    return false
  }

  /** Returns why a request below the threshold is refused. */
  reasonOf(level: number): DenialReason {
    return this.#isBelowOthers(level) ? 'priority' : 'full'
  }

  /**
   * Part of a limit that stays free for requests above `level`, if they cannot wait; 0 without overload. `isRefused`:
   * whether the request is below the threshold, so that it only gets a place if many are free.
   */
  roomAbove(level: number, isRefused: boolean): number {
    if (isRefused && level < CRITICAL && this.#lost >= 1) return 1
    return this.#reserved(level) + (isRefused && this.#isBelowOthers(level) ? SPARE : 0)
  }

  #reserved(level: number): number {
    if (!this.isOverloaded) return 0
    const classes = Math.max(0, classOf(this.#highest) - classOf(level))
    if (classes > 0) return RESERVED * classes
    const isCut = this.#passing < 1 && level <= this.#level && this.#isBelowOthers(level)
    return isCut ? RESERVED_OF_CUT : 0
  }

  /** Whether there are recent requests that are more important, or of clients that clearly used less. */
  #isBelowOthers(level: number): boolean {
    return classOf(this.#highest) > classOf(level) || this.#highest >= level + SWAYING
  }

  completed(): void {
    this.#completed++
  }

  /** Records that a cap had no place for a request. */
  full(level: number): void {
    this.#wasFull = true
    if (level >= CRITICAL) this.#lost++
  }

  #calculate(now: number): void {
    const elapsedMs = now - this.#startedAt
    this.#recentMs += elapsedMs
    this.#calmIntervals = this.#wasFull ? 0 : this.#calmIntervals + elapsedMs / INTERVAL_MS
    if (this.#wasFull) this.#admittedPerMs = this.#admittedWhileFull()
    else this.#admittedPerMs *= RECOVERY ** (elapsedMs / INTERVAL_MS)
    this.#cutAt(this.#admittedPerMs * this.#recentMs)
    this.#forget(MEMORY ** (elapsedMs / INTERVAL_MS))
    this.#lost *= LOST_MEMORY ** (elapsedMs / INTERVAL_MS)
    this.#wasFull = false
    this.#startInterval(now)
  }

  #startInterval(now: number): void {
    this.#startedAt = now
    this.#nextAt = now + INTERVAL_MS
  }

  /** Completions lag behind arrivals, so an interval with none must not refuse everybody. */
  #admittedWhileFull(): number {
    const arrivedPerMs = this.#recent.reduce((sum, count) => sum + count, 0) / this.#recentMs
    const before = Math.min(this.#admittedPerMs, arrivedPerMs)
    return Math.max((ADMITTED * this.#completed) / this.#recentMs, before * LEAST_PART, 1 / INTERVAL_MS)
  }

  #forget(remaining: number): void {
    this.#highest = 0
    for (let level = 0; level < LEVELS; level++) {
      const count = this.#recent[level] as number
      if (count > MIN_COUNT) this.#highest = level
      this.#recent[level] = count * remaining
    }
    this.#recentMs *= remaining
    this.#completed *= remaining
  }

  /** Sets the threshold so that `admitted` of the recent requests pass, and fewer while more important ones are lost. */
  #cutAt(admitted: number): void {
    let left = admitted
    for (let level = LEVELS - 1; level >= 0; level--) {
      const count = this.#recent[level] as number
      const part = left === admitted ? SWAY : 1
      if (count > left * part) {
        this.#level = level
        this.#passing = (left * part) / count
        return
      }
      left = Math.max(0, left - count)
      if (level !== CRITICAL || this.#lost < 1) continue
      const served = ADMITTED * this.#completed - (admitted - left)
      left = Math.max(0, Math.min(left, served) - this.#lost)
    }
    this.#level = 0
    this.#passing = 1
  }
}
