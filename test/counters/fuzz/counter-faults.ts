import type { Clock } from '@sluice/limiter-core'
import type { SeededRandom } from '@sluice/testkit'
import type { Intrusion } from './intercepted-ledger.ts'

export interface CounterFaultsOptions {
  readonly clock: Clock
  readonly random: SeededRandom
  /** Longest delay of a call, in ms. */
  readonly mostMs: number
}

/** Random faults of ledger calls: they fail, are delayed, or are never answered, before or after they take effect. */
export class CounterFaults implements Intrusion {
  readonly #options: CounterFaultsOptions
  /** Share of calls with a fault, on either side; 0 to 1. */
  share = 0.3

  constructor(options: CounterFaultsOptions) {
    this.#options = options
  }

  readonly before = (): Promise<void> | void => this.#happen('before')
  readonly after = (): Promise<void> | void => this.#happen('after')

  #happen(side: string): Promise<void> | void {
    const { clock, random, mostMs } = this.#options
    if (random.next() >= this.share) return undefined
    const kind = random.whole(10)
    if (kind < 3) return Promise.reject(new Error(`lost ${side}`))
    if (kind === 3) return new Promise(() => {})
    return new Promise((resolve) => void clock.after(random.whole(mostMs), resolve))
  }
}
