import type { Metric, MetricSource } from '@sluice/limiter-core'
import { badOption, optionsOf } from '@sluice/limiter-core/backend'
import { MetricSnapshot } from './metric-snapshot.ts'
import { checkSource } from './metrics-handler.ts'
import { type OtelName, otelAttributes, otelName } from './otel-names.ts'
import { type ValueRow, valueRows } from './value-rows.ts'

type Observe = (result: { observe(value: number, attributes?: Record<string, string>): void }) => void

interface OtelInstrument {
  addCallback(callback: Observe): void
  removeCallback(callback: Observe): void
}

interface OtelInstrumentOptions {
  readonly description: string
  readonly unit: string
}

/** The used subset of `Meter` of `@opentelemetry/api`. */
export interface OtelMeter {
  createObservableCounter(name: string, options: OtelInstrumentOptions): OtelInstrument
  createObservableUpDownCounter(name: string, options: OtelInstrumentOptions): OtelInstrument
  createObservableGauge(name: string, options: OtelInstrumentOptions): OtelInstrument
}

export interface OtelMetricsOptions {
  /** Meter, such as `metrics.getMeter('sluice')` of `@opentelemetry/api`. */
  readonly meter: OtelMeter
}

/**
 * Exports the metrics of an insight to OpenTelemetry as observable instruments, which are read when a reader collects.
 * OpenTelemetry has no observable histogram, so a histogram becomes three counters: `.bucket` (with attribute `le`),
 * `.sum` and `.count`. A metric that a source adds later appears from the next collection on.
 *
 * Returns a function that stops the export. Throws `SLUICE_BAD_OPTION`.
 */
export function otelMetrics(insight: MetricSource, options: OtelMetricsOptions): () => void {
  checkSource('otelMetrics: insight', insight)
  const { meter } = optionsOf('otelMetrics', options, ['meter'])
  if (typeof meter?.createObservableCounter !== 'function') {
    throw badOption('otelMetrics: meter', meter, 'a Meter of @opentelemetry/api')
  }
  const instruments = new ObservedInstruments(insight, meter)
  return () => instruments.remove()
}

class ObservedInstruments {
  readonly #snapshot: MetricSnapshot
  readonly #meter: OtelMeter
  readonly #known: Set<string> = new Set()
  readonly #remove: (() => void)[] = []

  constructor(insight: MetricSource, meter: OtelMeter) {
    this.#meter = meter
    this.#snapshot = new MetricSnapshot(insight, (metrics) => this.#addNew(metrics))
  }

  remove(): void {
    for (const remove of this.#remove.splice(0)) remove()
  }

  #addNew(metrics: Iterable<Metric>): void {
    for (const metric of metrics) {
      if (this.#known.has(metric.name)) continue
      this.#known.add(metric.name)
      const parts = metric.type === 'histogram' ? (['bucket', 'sum', 'count'] as const) : ['' as const]
      for (const part of parts) this.#add(metric, part)
    }
  }

  #add(metric: Metric, part: ValueRow['part']): void {
    const named = otelName(metric)
    const instrument = this.#instrument(metric, named, part)
    const observe: Observe = (result) => {
      for (const row of this.#rows(metric.name)) {
        if (row.part === part) result.observe(scaled(row, named), attributesOf(row, named))
      }
    }
    instrument.addCallback(observe)
    this.#remove.push(() => instrument.removeCallback(observe))
  }

  #rows(name: string): readonly ValueRow[] {
    const metric = this.#snapshot.read(name)
    return metric === undefined ? [] : valueRows(metric)
  }

  #instrument({ help }: Metric, { name, unit, kind }: OtelName, part: ValueRow['part']): OtelInstrument {
    const counted = part === 'bucket' || part === 'count'
    const options = { description: help, unit: counted ? '1' : unit }
    const named = part === '' ? name : `${name}.${part}`
    if (kind === 'gauge') return this.#meter.createObservableGauge(named, options)
    if (kind === 'upDownCounter') return this.#meter.createObservableUpDownCounter(named, options)
    return this.#meter.createObservableCounter(named, options)
  }
}

function scaled({ part, value }: ValueRow, { scale }: OtelName): number {
  return part === 'sum' || part === '' ? value * scale : value
}

function attributesOf({ labels, upperBound }: ValueRow, { scale }: OtelName): Record<string, string> {
  const attributes = otelAttributes(labels)
  if (upperBound === undefined) return attributes
  return { ...attributes, le: upperBound === Number.POSITIVE_INFINITY ? '+Inf' : String(upperBound * scale) }
}
