import { randomBytes } from 'node:crypto'
import { type Clock, KEEP_ALIVE, messageOf, type Observers } from '@sluice/limiter-core/backend'

/** A batch, with the position of its oldest item in the order of arrival. */
interface Batch {
  readonly turn: number
}

export interface BatchLoopOptions<B extends Batch> {
  /** Name of the counters, for observers. */
  readonly name: string
  readonly clock: Clock
  readonly observers: Observers
  /** Maximum delay of units without a waiting caller, in ms, while attempts succeed. */
  readonly flushMs: number
  /** Whether the process stays alive until everything is sent. */
  readonly keepsAlive: boolean
  /** Takes the next batch. Returns undefined if nothing can be sent now. */
  readonly next: () => B | undefined
  /** Sends a batch. Resolves with a function that applies the reply. The loop calls it after the batch has left `current`. */
  readonly send: (batch: B) => Promise<() => void>
  /** Whether nothing waits for the next batch. */
  readonly isEmpty: () => boolean
  /** Whether a caller is waiting or a batch is full, so that the next batch is sent without delay. */
  readonly isUrgent: () => boolean
  /** Turn of the newest item so far. */
  readonly lastTurn: () => number
  /** Turn of the oldest item that waits for a batch; Infinity if there is none. */
  readonly oldestTurn: () => number
}

/** Delay before the first retry; doubled before each further one. */
const FIRST_RETRY_MS = 50
const MAX_RETRY_MS = 1_000

/**
 * Sends numbered batches of one writer: one batch at a time, which is sent again after failures until the ledger
 * replies.
 */
export class BatchLoop<B extends Batch> {
  /** Random name of this start of the process, for the batches. */
  readonly writer: string = randomBytes(15).toString('base64url')
  readonly #options: BatchLoopOptions<B>
  #current: B | undefined
  #attempt: Promise<void> | undefined
  #failedAttempts = 0
  #cancelTimer: (() => void) | undefined

  constructor(options: BatchLoopOptions<B>) {
    this.#options = options
  }

  /** The batch under way. */
  get current(): B | undefined {
    return this.#current
  }

  /** Schedules the next attempt if anything is unsent. Must be called whenever units are added. */
  schedule(): void {
    if (this.#attempt) return
    const { clock, flushMs, keepsAlive, isEmpty, isUrgent } = this.#options
    if (!this.#current && isEmpty()) return
    if (this.#failedAttempts === 0 && isUrgent()) {
      this.#sendUnwatched()
      return
    }
    const delayMs = this.#failedAttempts === 0 ? flushMs : this.#retryMs
    this.#cancelTimer ??= clock.after(delayMs, () => this.#sendUnwatched(), { keepAlive: keepsAlive })
  }

  /**
   * Resolves when everything added so far is applied. Rejects if an attempt fails; later attempts follow regardless.
   */
  async flush(): Promise<void> {
    const last = this.#options.lastTurn()
    while (this.#oldestTurn <= last) await this.#send()
  }

  /** Waits for the batch under way. Rejects if its attempt fails. */
  async settled(): Promise<void> {
    const batch = this.#current
    while (batch && this.#current === batch) await this.#send()
  }

  /** Flushes with retries for at most `waitMs`, then stops. Rejects if anything is left. */
  async end(waitMs: number): Promise<void> {
    const endsAt = this.#options.clock.now() + waitMs
    let failure: { readonly error: unknown } | undefined
    do {
      failure = await this.flush().then(
        () => undefined,
        (error: unknown) => ({ error }),
      )
    } while (failure && (await this.#retryBefore(endsAt)))
    this.#stop()
    if (failure) throw failure.error
  }

  get #oldestTurn(): number {
    return Math.min(this.#current?.turn ?? Number.POSITIVE_INFINITY, this.#options.oldestTurn())
  }

  /** Starts an attempt, or joins the one under way. Rejects if it fails. */
  #send(): Promise<void> {
    this.#stop()
    this.#attempt ??= this.#try().finally(() => {
      this.#attempt = undefined
      this.schedule()
    })
    return this.#attempt
  }

  /** Cancels the timer. */
  #stop(): void {
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
    this.#send().catch(() => {})
  }

  async #try(): Promise<void> {
    const { name, observers, next, send } = this.#options
    try {
      this.#current ??= next()
      if (this.#current) {
        const apply = await send(this.#current)
        this.#current = undefined
        apply()
      }
      this.#failedAttempts = 0
    } catch (error) {
      this.#failedAttempts++
      observers.event('backendFailed', { backend: 'counters', name, reason: messageOf(error) })
      throw error
    }
  }
}
