import { AWAITED, type Clock, Deadlines, messageOf, type Observers } from '@sluice/limiter-core/backend'

/** An exchange that has no answer by then is begun again; each is safe to repeat. */
const ANSWER_MS = 1_000

export interface ExchangeLoopOptions {
  /** Of what observers are told. */
  readonly topic: string
  readonly clock: Clock
  readonly observers: Observers
  /** Sends and receives what there is. Rejects where it did not come through, and is called again by a later tick. */
  readonly exchange: () => Promise<void>
}

/** Exchanges one after another, each begun by a tick, until it is closed. Of failures an outage is told once. */
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

  /** Nothing is to be sent any more. */
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

  /** What is answered in time. Rejects with the code `LATE` where that is nothing. */
  inTime<T>(answer: Promise<T>): Promise<T> {
    return this.#deadlines.inTime(answer)
  }

  /** The server answered: an outage is over. */
  answered(): void {
    const { topic, observers } = this.#options
    if (this.#failing) observers.event('sync', { topic, failed: false })
    this.#failing = false
  }

  /** Waits for what is under way and exchanges what is left, for at most `ms`. */
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
