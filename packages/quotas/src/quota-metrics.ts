import type { Metric, MetricSource } from '@sluice/limiter-core/backend'
import type { OwedUnits } from './owed-units.ts'

/** Metrics of the quotas in this process. */
export class QuotaMetrics implements MetricSource {
  readonly #owed: OwedUnits

  constructor(owed: OwedUnits) {
    this.#owed = owed
  }

  *metrics(): Iterable<Metric> {
    yield {
      name: 'sluice_quota_owed_units',
      help: 'Units that were allowed while the database was unavailable and are not charged yet.',
      type: 'gauge',
      samples: [{ labels: {}, value: this.#owed.units }],
    }
  }
}
