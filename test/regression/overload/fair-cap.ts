import { type Clock, createInflightLimiter, type InflightLimiter } from '@sluice/limiter-core'
import { prioritizedInflight } from '@sluice/overload'

interface TestClock extends Clock {
  advance(ms: number): void
}

/** A cap with one place and one place in its queue, for which clients compete. */
export class FairCap {
  readonly cap: InflightLimiter
  readonly #clock: TestClock

  constructor(clock: TestClock) {
    this.#clock = clock
    const backend = prioritizedInflight({ queue: { max: 1, maxWaitMs: '1h' }, clock })
    this.cap = createInflightLimiter({ limit: 1, backend, clock })
  }

  /** Holds the place for some milliseconds. */
  async use(client: string, ms: number): Promise<void> {
    const permit = await this.cap.acquire('', { client })
    this.#clock.advance(ms)
    permit?.release()
  }

  /** Returns which of two clients is refused if only one of them can wait. */
  async refused(first: string, second: string): Promise<string> {
    await this.cap.acquire('', { client: 'holder' })
    const asked = [first, second].map(async (client) => {
      await this.cap.acquire('', { client })
      return client
    })
    return Promise.race(asked)
  }
}
