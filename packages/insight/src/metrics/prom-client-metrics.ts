import type { Metric, MetricSource } from '@sluice/limiter-core'
import { badOption, optionsOf, SluiceError } from '@sluice/limiter-core/backend'
import { MetricSnapshot } from './metric-snapshot.ts'
import { checkSource } from './metrics-handler.ts'
import { valueRows } from './value-rows.ts'

/** A registry of `prom-client` 15, as far as it is needed. */
export interface PromClientRegister {
  registerMetric(metric: unknown): void
  getSingleMetric(name: string): unknown
  removeSingleMetric(name: string): void
}

export interface PromClientOptions {
  /** `register` of prom-client, or a `Registry` of your own. */
  readonly register: PromClientRegister
}

/**
 * Adds the metrics of an insight to a registry of `prom-client`, beside those that are there; they are read when it is.
 * A metric that a source has for the first time joins while others are read, and is shown from the next time on. Its
 * `resetMetrics` leaves ours as they are. Answers a function that takes them off again. Throws `SLUICE_BAD_OPTION`, also
 * where the registry has a metric of one of the names.
 */
export function promClientMetrics(insight: MetricSource, options: PromClientOptions): () => void {
  checkSource('promClientMetrics: insight', insight)
  const { register } = optionsOf('promClientMetrics', options, ['register'])
  if (typeof register?.registerMetric !== 'function' || typeof register.getSingleMetric !== 'function') {
    throw badOption('promClientMetrics: register', register, 'a registry of prom-client')
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
      const got = `got a registry that has a metric '${name}', expected one without`
      throw new SluiceError('SLUICE_BAD_OPTION', `promClientMetrics: register: ${got}`)
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

/** What a registry reads of a metric; in a registry of OpenMetrics it takes `_total` off the name. */
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
