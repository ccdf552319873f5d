import { AWAITED, type Clock, Deadlines, messageOf, type Observers } from '@sluice/limiter-core/backend'

/** An exchange that has no answer by then is begun again; each is safe to repeat. */
const ANSWER_MS = 1_000

export interface ExchangeLoopOptions {
  /** Topic in events. */
  readonly topic: string
  readonly clock: Clock
  readonly observers: Observers
  /** Sends and receives once. Rejects if that failed; a later tick calls it again. */
  readonly exchange: () => Promise<void>
}

/**
 * Runs one exchange at a time, started by ticks, until it is closed. Reports the start and the end of an outage once.
 */
export class ExchangeLoop {
  readonly #options: ExchangeLoopOptions
  readonly #deadlines: Deadlines
  #underWay: Promise<void> | undefined
  #failing = false
  #closed = false

  constructor(options: ExchangeLoopOptions) {
    this.#options = options
    this.#deadlines = new Deadlines(options.clock, ANSWER_MS)
  }

  /** Whether nothing may be sent any longer. */
  get closed(): boolean {
    return this.#closed
  }

  /** Exchanges, unless that is under way. Never rejects. */
  tick(): Promise<void> {
    this.#underWay ??= this.#exchange().finally(() => {
      this.#underWay = undefined
    })
    return this.#underWay
  }

  /** Resolves with the reply if it is in time; otherwise rejects with the code `LATE`. */
  inTime<T>(answer: Promise<T>): Promise<T> {
    return this.#deadlines.inTime(answer)
  }

  /** Called when the server has replied: an outage has ended. */
  answered(): void {
    const { topic, observers } = this.#options
    if (this.#failing) observers.event('sync', { topic, failed: false })
    this.#failing = false
  }

  /** Waits for the pending exchange and runs another for the rest, for at most `ms`. */
  async close(ms: number): Promise<void> {
    const flushed = (this.#underWay ?? Promise.resolve()).then(() => this.tick())
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(ms, resolve, AWAITED)
      flushed.then(() => {
        cancel()
        resolve()
      })
    })
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

  /** Once an outage, not once a tick. */
  #failed(error: unknown): void {
    const { topic, observers } = this.#options
    if (!this.#failing) {
      const code = (error as { code?: unknown } | undefined)?.code ?? messageOf(error)
      observers.event('sync', { topic, failed: code })
    }
    this.#failing = true
  }
}
