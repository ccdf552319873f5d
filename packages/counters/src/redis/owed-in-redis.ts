import type { Clock, Metric, MetricSource } from '@sluice/limiter-core'
import { NOTHING_OWED, type Owed, owedMetrics } from '../metrics/owed-metrics.ts'

/** Whoever reads metrics reads them again within that time, in ms. */
const READ_AGAIN_MS = 120_000
/** Redis is asked no more often, in ms. */
const ASK_MS = 5_000

/**
 * What Redis has and the ledger does not, as it was a few seconds ago. Redis is asked while somebody reads these metrics,
 * and not otherwise.
 */
export class OwedInRedis implements MetricSource {
  readonly #ask: () => Promise<Owed>
  readonly #clock: Clock
  #owed: Owed = NOTHING_OWED
  #readAt = Number.NEGATIVE_INFINITY
  #askedAt = Number.NEGATIVE_INFINITY

  constructor(ask: () => Promise<Owed>, clock: Clock) {
    this.#ask = ask
    this.#clock = clock
  }

  metrics(): Iterable<Metric> {
    this.#readAt = this.#clock.now()
    return owedMetrics('redis', this.#owed)
  }

  /** To be called now and then. Rejects where Redis gives no answer; then what was known stays. */
  async refresh(): Promise<void> {
    const now = this.#clock.now()
    if (now - this.#readAt > READ_AGAIN_MS || now - this.#askedAt < ASK_MS) return
    this.#askedAt = now
    this.#owed = await this.#ask()
  }
}
