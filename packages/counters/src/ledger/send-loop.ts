import { type Clock, KEEP_ALIVE } from '@sluice/limiter-core/backend'

export interface SendLoopOptions {
  readonly clock: Clock
  /** Maximum delay of units without a waiting caller, in ms, while attempts succeed. */
  readonly flushMs: number
  /** Whether the process stays alive until everything is sent. */
  readonly keepsAlive: boolean
  /** Sends the batch under way, or else the next batch. */
  readonly attempt: () => Promise<void>
  readonly isEmpty: () => boolean
  /** Whether a caller is waiting or a batch is full, so that the next batch is sent without delay. */
  readonly isUrgent: () => boolean
}

/** Delay before the first retry; doubled before each further one. */
const FIRST_RETRY_MS = 50
const MAX_RETRY_MS = 1_000

/** Schedules the sending of batches: one attempt at a time, with retries after failures. */
export class SendLoop {
  readonly #options: SendLoopOptions
  #attempt: Promise<void> | undefined
  #failedAttempts = 0
  #cancelTimer: (() => void) | undefined

  constructor(options: SendLoopOptions) {
    this.#options = options
  }

  /** Schedules the next attempt if anything is unsent. Must be called whenever units are added. */
  schedule(): void {
    if (this.#attempt) return
    const { clock, flushMs, keepsAlive, isEmpty, isUrgent } = this.#options
    if (isEmpty()) return
    if (this.#failedAttempts === 0 && isUrgent()) {
      this.#sendUnwatched()
      return
    }
    const delayMs = this.#failedAttempts === 0 ? flushMs : this.#retryMs
    this.#cancelTimer ??= clock.after(delayMs, () => this.#sendUnwatched(), { keepAlive: keepsAlive })
  }

  /** Starts an attempt, or joins the one under way. Rejects if it fails. */
  send(): Promise<void> {
    this.stop()
    this.#attempt ??= this.#try().finally(() => {
      this.#attempt = undefined
      this.schedule()
    })
    return this.#attempt
  }

  /** Calls `flush` until it succeeds or `waitMs` have passed, then stops. Rejects if no call succeeded. */
  async end(flush: () => Promise<void>, waitMs: number): Promise<void> {
    const endsAt = this.#options.clock.now() + waitMs
    let failure: { readonly error: unknown } | undefined
    do {
      failure = await flush().then(
        () => undefined,
        (error: unknown) => ({ error }),
      )
    } while (failure && (await this.#retryBefore(endsAt)))
    this.stop()
    if (failure) throw failure.error
  }

  /** Cancels the timer. Unsent units are not sent unless `schedule` or `send` is called. */
  stop(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  get #retryMs(): number {
    return Math.min(FIRST_RETRY_MS * 2 ** (this.#failedAttempts - 1), MAX_RETRY_MS)
  }

  /** Waits for the retry delay. Returns false at once if the delay would end after `endsAt`. */
  #retryBefore(endsAt: number): Promise<boolean> {
    const { clock } = this.#options
    if (clock.now() + this.#retryMs > endsAt) return Promise.resolve(false)
    return new Promise((resolve) => {
      clock.after(this.#retryMs, () => resolve(true), KEEP_ALIVE)
    })
  }

  /** Sends without reporting a failure here; observers receive it. */
  #sendUnwatched(): void {
    this.send().catch(() => {})
  }

  async #try(): Promise<void> {
    try {
      await this.#options.attempt()
      this.#failedAttempts = 0
    } catch (error) {
      this.#failedAttempts++
      throw error
    }
  }
}
