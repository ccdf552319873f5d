import {
  type BucketSample,
  type Metric,
  type MetricLabels,
  SluiceError,
  shown,
  type ValueSample,
} from '@sluice/limiter-core/backend'
import { labelName, numberOf, rejectBucketLabel, stringOf } from './metric-names.ts'

/** Text of one metric in the Prometheus format: its header, then its samples from all sources. */
export class FamilyText {
  readonly #name: string
  readonly #type: Metric['type']
  readonly #lines: string[]
  /** Label sets of the samples so far. */
  readonly #known: Set<string> = new Set()

  constructor({ name, help, type }: Metric) {
    this.#name = name
    this.#type = type
    this.#lines = [`# HELP ${name} ${escapedHelp(stringOf(`${this.#owner}: help`, help))}`, `# TYPE ${name} ${type}`]
  }

  /** Appends the samples of the metric in another source. Throws `SLUICE_BAD_OPTION` if they cannot be combined. */
  add(metric: Metric): void {
    if (metric.type !== this.#type) throw this.#bad(`the type ${this.#type}, as in other sources`, metric.type)
    if (metric.type === 'histogram') for (const sample of metric.samples) this.#addBuckets(sample)
    else for (const sample of metric.samples) this.#addValue(sample)
  }

  text(): string {
    return `${this.#lines.join('\n')}\n`
  }

  get #owner(): string {
    return `metric '${this.#name}'`
  }

  #addValue({ labels, value }: ValueSample): void {
    this.#addLine('', this.#pairsOf(labels), value)
  }

  #addBuckets(sample: BucketSample): void {
    const pairs = this.#pairsOf(sample.labels)
    for (const { upperBound, count } of this.#completed(sample)) {
      this.#addLine('_bucket', [...pairs, `le="${numberText(upperBound)}"`], count)
    }
    this.#addLine('_sum', pairs, sample.sum)
    this.#addLine('_count', pairs, sample.count)
  }

  /** Returns the buckets, including the one for all values. Throws unless bounds ascend and counts are cumulative. */
  #completed({ buckets, count }: BucketSample): BucketSample['buckets'] {
    const all = { upperBound: Number.POSITIVE_INFINITY, count }
    const completed = buckets.at(-1)?.upperBound === all.upperBound ? buckets : [...buckets, all]
    let last = { upperBound: Number.NEGATIVE_INFINITY, count: 0 }
    for (const bucket of completed) {
      if (!(bucket.upperBound > last.upperBound)) {
        throw this.#bad('ascending bucket bounds', `${shown(bucket.upperBound)} after ${last.upperBound}`)
      }
      if (!(bucket.count >= last.count)) {
        throw this.#bad('cumulative bucket counts', `${shown(bucket.count)} after ${last.count}`)
      }
      last = bucket
    }
    if (last.count !== count) {
      throw this.#bad(`a last bucket with the count of the sample, ${shown(count)}`, `${last.count}`)
    }
    return completed
  }

  #addLine(suffix: string, pairs: readonly string[], value: number): void {
    const labels = pairs.length === 0 ? '' : `{${pairs.join(',')}}`
    const number = numberText(numberOf(`${this.#owner}: value`, value))
    this.#lines.push(`${this.#name}${suffix}${labels} ${number}`)
  }

  /** Returns `name="value"` of each label, sorted. Throws if another sample has the same labels. */
  #pairsOf(labels: MetricLabels): readonly string[] {
    const pairs = Object.entries(labels).map(([name, value]) => {
      labelName(this.#owner, name)
      if (this.#type === 'histogram') rejectBucketLabel(this.#owner, name)
      return `${name}="${escapedLabel(stringOf(`${this.#owner}: label ${name}`, value))}"`
    })
    const known = pairs.sort().join()
    if (this.#known.has(known)) {
      throw this.#bad(
        'different labels for each sample',
        'two samples with the same labels; use the labels of Metrics to distinguish sources',
      )
    }
    this.#known.add(known)
    return pairs
  }

  #bad(expected: string, received: string): SluiceError {
    return new SluiceError('SLUICE_BAD_OPTION', `${this.#owner}: expected ${expected}, received ${received}`)
  }
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '"': '\\"' }

function escapedHelp(text: string): string {
  return text.replace(/[\\\n]/g, (character) => ESCAPES[character])
}

function escapedLabel(text: string): string {
  return text.replace(/[\\\n"]/g, (character) => ESCAPES[character])
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value)
}
