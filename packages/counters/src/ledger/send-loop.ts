import { AWAITED, type Clock } from '@sluice/limiter-core/backend'

export interface SendLoopOptions {
  readonly clock: Clock
  /** How long what nobody waits for waits at most, in ms, while attempts succeed. */
  readonly flushMs: number
  /** Whether the process must not end before what waits is sent. */
  readonly keepsAlive: boolean
  /** Sends what is under way, or else what comes next. */
  readonly attempt: () => Promise<void>
  readonly isEmpty: () => boolean
  /** Whether somebody waits, or a batch is full. */
  readonly isUrgent: () => boolean
}

/** Before the second attempt to send a batch; twice as long before each further one. */
const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 1_000

/** When a process attempts to send what it counted: one attempt at a time, and again after each that failed. */
export class SendLoop {
  readonly #options: SendLoopOptions
  #attempt: Promise<void> | undefined
  #failedAttempts = 0
  #cancelTimer: (() => void) | undefined

  constructor(options: SendLoopOptions) {
    this.#options = options
  }

  /** Call it whenever something more waits. */
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

  /** One attempt; where one is under way, that one. Rejects as it does. */
  send(): Promise<void> {
    this.stop()
    this.#attempt ??= this.#try().finally(() => {
      this.#attempt = undefined
      this.schedule()
    })
    return this.#attempt
  }

  /** Calls `flush` again and again until it succeeds or `waitMs` are over, and ends. Rejects where it never did. */
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

  /** Ends the timer. What is not sent by then never is. */
  stop(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  get #retryMs(): number {
    return Math.min(FIRST_RETRY_MS * 2 ** (this.#failedAttempts - 1), LONGEST_RETRY_MS)
  }

  /** Waits as long as before any attempt after a failed one; false where that is too late. */
  #retryBefore(endsAt: number): Promise<boolean> {
    const { clock } = this.#options
    if (clock.now() + this.#retryMs > endsAt) return Promise.resolve(false)
    return new Promise((resolve) => {
      clock.after(this.#retryMs, () => resolve(true), AWAITED)
    })
  }

  /** Its failure goes to observers alone. */
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
