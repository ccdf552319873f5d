import type { Metric, MetricSource } from '@sluice/limiter-core'
import { badOption, optionsOf, SluiceError } from '@sluice/limiter-core/backend'
import { MetricSnapshot } from './metric-snapshot.ts'
import { checkSource } from './metrics-handler.ts'
import { valueRows } from './value-rows.ts'

/** The used subset of a `prom-client` 15 registry. */
export interface PromClientRegister {
  registerMetric(metric: unknown): void
  getSingleMetric(name: string): unknown
  removeSingleMetric(name: string): void
}

export interface PromClientOptions {
  /** Registry: `register` of prom-client, or your own `Registry`. */
  readonly register: PromClientRegister
}

/**
 * Adds the metrics of an insight to a `prom-client` registry. They are read whenever the registry is read. A metric
 * that a source adds later is registered during a reading and appears from the next reading on. `resetMetrics` of the
 * registry does not reset these metrics.
 *
 * Returns a function that removes the metrics from the registry. Throws `SLUICE_BAD_OPTION` for invalid options, and if
 * the registry already has a metric with one of the names.
 */
export function promClientMetrics(insight: MetricSource, options: PromClientOptions): () => void {
  checkSource('promClientMetrics: insight', insight)
  const { register } = optionsOf('promClientMetrics', options, ['register'])
  if (typeof register?.registerMetric !== 'function' || typeof register.getSingleMetric !== 'function') {
    throw badOption('promClientMetrics: register', register, 'a prom-client Registry')
  }
  const joined = new JoinedMetrics(insight, register)
  return () => joined.remove()
}

class JoinedMetrics {
  readonly #snapshot: MetricSnapshot
  readonly #register: PromClientRegister
  readonly #joined: Map<string, JoinedMetric> = new Map()

  constructor(insight: MetricSource, register: PromClientRegister) {
    this.#register = register
    this.#refuseTaken(insight)
    this.#snapshot = new MetricSnapshot(insight, (metrics) => this.#joinNew(metrics))
  }

  remove(): void {
    for (const [name, metric] of this.#joined) {
      if (this.#register.getSingleMetric(name) === metric) this.#register.removeSingleMetric(name)
    }
  }

  #refuseTaken(insight: MetricSource): void {
    for (const { name } of insight.metrics()) {
      if (this.#register.getSingleMetric(name) === undefined) continue
      const problem = `expected a registry without a metric '${name}', received one that has it`
      throw new SluiceError('SLUICE_BAD_OPTION', `promClientMetrics: register: ${problem}`)
    }
  }

  #joinNew(metrics: Iterable<Metric>): void {
    for (const metric of metrics) {
      if (this.#joined.has(metric.name)) continue
      const joined = new JoinedMetric(metric, (name) => this.#snapshot.read(name))
      this.#joined.set(metric.name, joined)
      if (this.#register.getSingleMetric(metric.name) === undefined) this.#register.registerMetric(joined)
    }
  }
}

/**
 * Metric as prom-client registers it. An OpenMetrics registry strips `_total` from `name`, which is why it is mutable.
 */
class JoinedMetric {
  name: string
  readonly help: string
  readonly type: Metric['type']
  readonly aggregator = 'sum'
  readonly #name: string
  readonly #read: (name: string) => Metric | undefined

  constructor({ name, help, type }: Metric, read: (name: string) => Metric | undefined) {
    this.name = name
    this.#name = name
    this.help = help
    this.type = type
    this.#read = read
  }

  async get(): Promise<object> {
    const { name, help, type, aggregator } = this
    const metric = this.#read(this.#name)
    const values = metric === undefined ? [] : valueRows(metric).map((row) => promValue(name, row))
    return { name, help, type, aggregator, values }
  }

  reset(): void {}
}

function promValue(name: string, { part, labels, value, upperBound }: ReturnType<typeof valueRows>[number]): object {
  if (part === '') return { labels: { ...labels }, value }
  const le = upperBound === Number.POSITIVE_INFINITY ? '+Inf' : upperBound
  return { metricName: `${name}_${part}`, labels: part === 'bucket' ? { le, ...labels } : { ...labels }, value }
}
