import { settledWithin } from '@sluice/fleet/backend'
import { type Clock, Deadlines, messageOf, type Observers } from '@sluice/limiter-core/backend'

/** Time after which a call without a reply fails, and the next tick repeats it. Every call is safe to repeat. */
const REPLY_MS = 1_000

export interface ExchangeLoopOptions {
  /** Topic of the events. */
  readonly topic: string
  readonly clock: Clock
  readonly observers: Observers
  /** Sends and receives. If it rejects, the next tick calls it again. */
  readonly exchange: () => Promise<void>
}

/** Runs one exchange at a time, started by ticks. Reports the start and the end of each outage to the observers. */
export class ExchangeLoop {
  readonly #options: ExchangeLoopOptions
  readonly #deadlines: Deadlines
  #pending: Promise<void> | undefined
  #failing = false
  #closed = false

  constructor(options: ExchangeLoopOptions) {
    this.#options = options
    this.#deadlines = new Deadlines(options.clock, REPLY_MS)
  }

  /** Whether the loop is closed, so that nothing may be sent. */
  get closed(): boolean {
    return this.#closed
  }

  /** Starts an exchange unless one is pending. Resolves when the exchange has ended; never rejects. */
  tick(): Promise<void> {
    this.#pending ??= this.#exchange().finally(() => {
      this.#pending = undefined
    })
    return this.#pending
  }

  /** Resolves with the reply, or rejects with the code `LATE` after one second. */
  inTime<T>(answer: Promise<T>): Promise<T> {
    return this.#deadlines.inTime(answer)
  }

  /** Records a reply of Redis, which ends an outage. */
  answered(): void {
    const { topic, observers } = this.#options
    if (this.#failing) observers.event('sync', { topic, failed: false })
    this.#failing = false
  }

  /** Waits up to `ms` for the pending exchange and for another one that sends the rest. */
  async close(ms: number): Promise<void> {
    const flushed = (this.#pending ?? Promise.resolve()).then(() => this.tick())
    await settledWithin(flushed, ms, this.#options.clock)
    this.#closed = true
    this.#deadlines.close()
  }

  async #exchange(): Promise<void> {
    if (this.#closed) return
    try {
      await this.#options.exchange()
    } catch (error) {
      this.#failed(error)
    }
  }

  /** Reports the start of an outage once, not at every tick. */
  #failed(error: unknown): void {
    const { topic, observers } = this.#options
    if (!this.#failing) {
      const code = (error as { code?: unknown } | undefined)?.code ?? messageOf(error)
      observers.event('sync', { topic, failed: code })
    }
    this.#failing = true
  }
}
