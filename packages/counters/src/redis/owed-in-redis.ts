import type { Clock, Metric, MetricSource } from '@sluice/limiter-core'
import { NOTHING_OWED, type Owed, owedMetrics } from '../metrics/owed-metrics.ts'

/** Time without a metrics read after which Redis is no longer queried, in ms. */
const ACTIVE_MS = 120_000
/** Minimum time between queries, in ms. */
const QUERY_MS = 5_000

/**
 * Units in Redis that the ledger does not have, as of a few seconds ago. Redis is queried only while the metrics are
 * read.
 */
export class OwedInRedis implements MetricSource {
  readonly #query: () => Promise<Owed>
  readonly #clock: Clock
  #owed: Owed = NOTHING_OWED
  #readAt = Number.NEGATIVE_INFINITY
  #queriedAt = Number.NEGATIVE_INFINITY

  constructor(query: () => Promise<Owed>, clock: Clock) {
    this.#query = query
    this.#clock = clock
  }

  metrics(): Iterable<Metric> {
    this.#readAt = this.#clock.now()
    return owedMetrics('redis', this.#owed)
  }

  /** Queries Redis if it is due; call this periodically. If the query fails, rejects and keeps the previous values. */
  async refresh(): Promise<void> {
    const now = this.#clock.now()
    if (now - this.#readAt > ACTIVE_MS || now - this.#queriedAt < QUERY_MS) return
    this.#queriedAt = now
    this.#owed = await this.#query()
  }
}
