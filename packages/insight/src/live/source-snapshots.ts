import type { BucketSample, Metric, MetricLabels } from '@sluice/limiter-core'
import { boundedText } from '../bounded-text.ts'
import type { MeasuredSample, SourceSnapshot } from './snapshot.ts'

/** Of all sources together, of one metric, and labels of one series. */
const MOST = { series: 100, samples: 20, labels: 8 }

/** What sources measured, of a size that does not grow with them; metrics without a series are left out. */
export function sourceSnapshots(metrics: Iterable<Metric>): readonly SourceSnapshot[] {
  return boundedSources([...metrics].map(snapshotOf).filter(({ samples }) => samples.length > 0))
}

/** At most 100 series of all, and 20 of each metric: the first ones. */
export function boundedSources(sources: readonly SourceSnapshot[]): readonly SourceSnapshot[] {
  let left = MOST.series
  const kept: SourceSnapshot[] = []
  for (const source of sources) {
    if (left <= 0) break
    const samples = source.samples.slice(0, Math.min(MOST.samples, left))
    left -= samples.length
    kept.push({ ...source, samples } as SourceSnapshot)
  }
  return kept
}

function snapshotOf(metric: Metric): SourceSnapshot {
  const head = { name: boundedText(metric.name), help: boundedText(metric.help) }
  if (metric.type === 'histogram') {
    return { ...head, type: metric.type, samples: metric.samples.slice(0, MOST.samples).map(measured) }
  }
  const samples = metric.samples.slice(0, MOST.samples)
  // what is no number of JSON would be shown as none
  const finite = samples.filter(({ value }) => Number.isFinite(value))
  return { ...head, type: metric.type, samples: finite.map(({ labels, value }) => ({ labels: texts(labels), value })) }
}

function measured(sample: BucketSample): MeasuredSample {
  const { labels, count, sum } = sample
  const mean = count > 0 && Number.isFinite(sum) ? sum / count : null
  return { labels: texts(labels), count, mean, p50: boundOf(sample, 0.5), p99: boundOf(sample, 0.99) }
}

/** The bound below which that share of all values is; null where there is none. */
function boundOf({ buckets, count }: BucketSample, share: number): number | null {
  const bound = count > 0 ? buckets.find((bucket) => bucket.count >= share * count)?.upperBound : undefined
  return bound === undefined || !Number.isFinite(bound) ? null : bound
}

function texts(labels: MetricLabels): MetricLabels {
  const pairs = Object.entries(labels).slice(0, MOST.labels)
  return Object.fromEntries(pairs.map(([name, value]) => [boundedText(name), boundedText(String(value))]))
}
