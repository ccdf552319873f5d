import type { Clock, Metric, MetricSource } from '@sluice/limiter-core'
import { HeavyKeeper } from '@sluice/sketches'

/** An id that is incremented often. */
export interface HotId {
  readonly id: string
  /** Number of increments in the last full second. The estimate may be slightly low. */
  readonly perSecond: number
}

const MAX_IDS = 100
const SECOND = 1_000

/** Tracks the ids with the most increments in the last full second, in fixed memory. */
export class HotIds implements MetricSource {
  readonly #leastPerSecond: number
  readonly #clock: Clock
  #second = 0
  #counts = new HeavyKeeper({ k: MAX_IDS })
  #last: readonly HotId[] = []

  constructor(leastPerSecond: number, clock: Clock) {
    this.#leastPerSecond = leastPerSecond
    this.#clock = clock
  }

  count(id: string): void {
    this.#advance()
    this.#counts.add(id)
  }

  /** Returns the hot ids of the last full second, in descending order. */
  last(): readonly HotId[] {
    this.#advance()
    return this.#last
  }

  *metrics(): Iterable<Metric> {
    const help = 'Counters that are incremented very often; hotIds() lists them.'
    yield { name: 'hot_ids', help, type: 'gauge', samples: [{ labels: {}, value: this.last().length }] }
  }

  #advance(): void {
    const second = Math.floor(this.#clock.now() / SECOND)
    if (second === this.#second) return
    this.#last = second === this.#second + 1 ? this.#hottest() : []
    this.#second = second
    this.#counts = new HeavyKeeper({ k: MAX_IDS })
  }

  #hottest(): readonly HotId[] {
    const counts = this.#counts.top().map(({ key, count }) => ({ id: key, perSecond: count }))
    return counts.filter(({ perSecond }) => perSecond >= this.#leastPerSecond)
  }
}
