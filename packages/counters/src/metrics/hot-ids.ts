import type { Clock, Metric, MetricSource } from '@sluice/limiter-core'
import { HeavyKeeper } from '@sluice/sketches'

/** An id that is incremented often. */
export interface HotId {
  readonly id: string
  /** Increments in the last whole second, or a little less. */
  readonly perSecond: number
}

const MOST_IDS = 100
const SECOND = 1_000

/** The ids that were incremented most in the last whole second. Memory is fixed, however many there are. */
export class HotIds implements MetricSource {
  readonly #leastPerSecond: number
  readonly #clock: Clock
  #second = 0
  #counts = new HeavyKeeper({ k: MOST_IDS })
  #last: readonly HotId[] = []

  constructor(leastPerSecond: number, clock: Clock) {
    this.#leastPerSecond = leastPerSecond
    this.#clock = clock
  }

  count(id: string): void {
    this.#advance()
    this.#counts.add(id)
  }

  /** The hottest first. */
  last(): readonly HotId[] {
    this.#advance()
    return this.#last
  }

  *metrics(): Iterable<Metric> {
    const help = 'Counters that are incremented very often; which ones, hotIds() answers.'
    yield { name: 'hot_ids', help, type: 'gauge', samples: [{ labels: {}, value: this.last().length }] }
  }

  #advance(): void {
    const second = Math.floor(this.#clock.now() / SECOND)
    if (second === this.#second) return
    this.#last = second === this.#second + 1 ? this.#hottest() : []
    this.#second = second
    this.#counts = new HeavyKeeper({ k: MOST_IDS })
  }

  #hottest(): readonly HotId[] {
    const counts = this.#counts.top().map(({ key, count }) => ({ id: key, perSecond: count }))
    return counts.filter(({ perSecond }) => perSecond >= this.#leastPerSecond)
  }
}
