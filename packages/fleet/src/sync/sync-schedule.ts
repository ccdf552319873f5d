import type { Clock } from '@sluice/limiter-core/backend'
import type { SyncTerms } from './sync-terms.ts'

/** Fraction by which the length of a tick varies randomly. */
const JITTER = 0.1

export interface SyncScheduleDeps {
  readonly terms: SyncTerms
  readonly clock: Clock
  readonly random: () => number
  /** Sends all pending reports. */
  readonly tick: () => void
  /** Sends the urgent reports. */
  readonly sendUrgent: () => void
}

/** Decides when a process exchanges reports with the ledger: in ticks, and earlier for urgent keys. */
export class SyncSchedule {
  readonly #deps: SyncScheduleDeps
  #cancelTick: (() => void) | undefined
  #cancelUrgent: (() => void) | undefined
  #isUrgentScheduled = false
  #sentAt = Number.NEGATIVE_INFINITY
  #tickedAt = Number.NEGATIVE_INFINITY
  #isEnded = false

  constructor(deps: SyncScheduleDeps) {
    this.#deps = deps
  }

  /** Reports that batches were sent at `now`. */
  sent(now: number): void {
    this.#sentAt = now
  }

  /** Schedules the next tick: one tick after the last one or, after a pause, at a random time within one tick. */
  wake(): void {
    if (this.#cancelTick || this.#isEnded) return
    const { clock, terms, random } = this.#deps
    const sinceMs = clock.now() - this.#tickedAt
    this.#tickAfter(sinceMs < terms.tickMs ? this.#nextTickMs() - sinceMs : random() * terms.tickMs)
  }

  /** Schedules the next tick a whole tick from now, unless one is scheduled. */
  tickAgain(): void {
    if (!this.#cancelTick && !this.#isEnded) this.#tickAfter(this.#nextTickMs())
  }

  /** Schedules an exchange of the urgent keys, `gapMs` after the last exchange or at once if that has passed. */
  scheduleUrgent(): void {
    if (this.#isUrgentScheduled || this.#isEnded) return
    this.#isUrgentScheduled = true
    const { clock, terms, sendUrgent } = this.#deps
    const waitMs = Math.max(0, this.#sentAt + terms.gapMs - clock.now())
    this.#cancelUrgent = clock.after(waitMs, () => {
      this.#isUrgentScheduled = false
      sendUrgent()
    })
  }

  end(): void {
    this.#isEnded = true
    this.#cancelTick?.()
    this.#cancelUrgent?.()
  }

  #tickAfter(ms: number): void {
    const { clock, tick } = this.#deps
    this.#cancelTick = clock.after(ms, () => {
      this.#cancelTick = undefined
      this.#tickedAt = clock.now()
      tick()
    })
  }

  #nextTickMs(): number {
    const { terms, random } = this.#deps
    return terms.tickMs * (1 + JITTER * (2 * random() - 1))
  }
}
