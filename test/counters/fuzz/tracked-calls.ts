import { afterThisTurn } from '@sluice/limiter-core/backend'
import type { FakeClock } from '@sluice/testkit'

export const turn = (): Promise<void> => new Promise((resolve) => afterThisTurn(resolve))

/** Calls that are under way, for as long as which the test moves the clock. */
export class TrackedCalls {
  readonly #clock: FakeClock
  /** Number of calls without an answer. */
  waiting = 0

  constructor(clock: FakeClock) {
    this.#clock = clock
  }

  track(call: () => Promise<unknown>): void {
    this.waiting++
    const settled = (): void => {
      this.waiting--
    }
    call().then(settled, settled)
  }

  /** Advances the clock until a condition is met. */
  async moved(until: () => boolean, what: string): Promise<void> {
    for (let i = 0; i < 4_000; i++) {
      if (until()) return
      await turn()
      this.#clock.advance(20)
    }
    throw new Error(`${what} did not come about`)
  }

  /** Waits for a promise while the clock and the database make progress. */
  async of<T>(asked: Promise<T>, what: string): Promise<T> {
    let isSettled = false
    const settled = (): void => {
      isSettled = true
    }
    asked.then(settled, settled)
    await this.moved(() => isSettled, what)
    return asked
  }
}
