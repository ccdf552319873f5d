import type { MaybePromise } from '@sluice/limiter-core'
import { isPromise, messageOf, warnOnce } from '@sluice/limiter-core/http'
import { ALL_BUT_CRITICAL } from './priority-ramps.ts'

/** Returns how healthy the process is: a number from 0 (refuse everything) to 1, or whether it is healthy. */
export type CheckHealth = () => MaybePromise<number | boolean>

/** Runs a health check again and again, never twice at the same time. */
export class HealthCheck {
  readonly #check: CheckHealth
  readonly #everyMs: number
  #pressure = 0
  #startedAt = Number.NEGATIVE_INFINITY
  #isRunning = false

  constructor(check: CheckHealth, everyMs: number) {
    this.#check = check
    this.#everyMs = everyMs
  }

  /** Returns the pressure, from 0 to 1, and starts the check if it is due. */
  read(now: number): number {
    const isDue = now - this.#startedAt >= this.#everyMs
    // a check that has not ended in time
    if (this.#isRunning) return isDue ? Math.max(this.#pressure, ALL_BUT_CRITICAL) : this.#pressure
    if (isDue) this.#start(now)
    return this.#pressure
  }

  #start(now: number): void {
    this.#startedAt = now
    try {
      const result = this.#check()
      if (isPromise(result)) this.#wait(result)
      else this.#ended(result)
    } catch (error) {
      this.#failed(error)
    }
  }

  #wait(result: Promise<unknown>): void {
    this.#isRunning = true
    Promise.resolve(result)
      .finally(() => {
        this.#isRunning = false
      })
      .then((value) => this.#ended(value))
      .catch((error) => this.#failed(error))
  }

  #ended(value: unknown): void {
    if (value === true || value === false) this.#pressure = value ? 0 : ALL_BUT_CRITICAL
    else if (typeof value === 'number' && value >= 0 && value <= 1) this.#pressure = 1 - value
    else this.#failed(new TypeError('expected a number from 0 to 1, or a boolean'))
  }

  #failed(error: unknown): void {
    this.#pressure = ALL_BUT_CRITICAL
    const message = () =>
      `health failed, and all requests except critical ones are refused until it succeeds: ${messageOf(error)}`
    warnOnce('SLUICE_HOOK_FAILED', message, 'health')
  }
}
