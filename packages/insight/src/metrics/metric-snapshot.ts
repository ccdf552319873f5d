import type { Metric, MetricSource } from '@sluice/limiter-core'

/** Metrics of a source by name, read once per turn of the event loop: registries request each metric separately. */
export class MetricSnapshot {
  readonly #source: MetricSource
  readonly #hasRead: (metrics: Iterable<Metric>) => void
  #metrics: ReadonlyMap<string, Metric> | undefined

  /**
   * Reads the source immediately. `hasRead` is called with all metrics after each reading, because a source may have
   * added new ones.
   */
  constructor(source: MetricSource, hasRead: (metrics: Iterable<Metric>) => void) {
    this.#source = source
    this.#hasRead = hasRead
    hasRead(byName(source.metrics()).values())
  }

  /**
   * Returns the metric with this name. Samples of several sources with the same metric name are combined; samples of a
   * different type than the first are left out.
   */
  read(name: string): Metric | undefined {
    if (this.#metrics === undefined) {
      this.#metrics = byName(this.#source.metrics())
      this.#hasRead(this.#metrics.values())
      queueMicrotask(() => {
        this.#metrics = undefined
      })
    }
    return this.#metrics.get(name)
  }
}

function byName(metrics: Iterable<Metric>): Map<string, Metric> {
  const named = new Map<string, Metric>()
  for (const metric of metrics) {
    const first = named.get(metric.name)
    if (first === undefined) named.set(metric.name, metric)
    else named.set(metric.name, joined(first, metric))
  }
  return named
}

function joined(first: Metric, next: Metric): Metric {
  if (first.type === 'histogram') {
    return next.type === 'histogram' ? { ...first, samples: [...first.samples, ...next.samples] } : first
  }
  return next.type === first.type ? { ...first, samples: [...first.samples, ...next.samples] } : first
}
