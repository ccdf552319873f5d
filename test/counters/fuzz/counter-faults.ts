import type { Clock } from '@sluice/limiter-core'
import type { SeededRandom } from '@sluice/testkit'
import type { Intrusion } from './held-ledger.ts'

export interface CounterFaultsOptions {
  readonly clock: Clock
  readonly random: SeededRandom
  /** Calls are late by up to so much. */
  readonly mostMs: number
}

/** What happens to the calls of a ledger by chance: they fail, wait, or are never answered, before or after their effect. */
export class CounterFaults implements Intrusion {
  readonly #options: CounterFaultsOptions
  /** Of all calls, how many something happens to, on either side; 0 to 1. */
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
