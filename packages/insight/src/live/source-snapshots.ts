import type { BucketSample, Metric, MetricLabels } from '@sluice/limiter-core'
import { boundedText } from '../bounded-text.ts'
import type { MeasuredSample, SourceSnapshot } from './report/snapshot.ts'

/** Limits: series of all sources together, samples per metric, labels per series. */
const MOST = { series: 100, samples: 20, labels: 8 }

/** Converts metrics of sources to snapshots of bounded size. Metrics without samples are left out. */
export function sourceSnapshots(metrics: Iterable<Metric>): readonly SourceSnapshot[] {
  return boundedSources([...metrics].map(snapshotOf).filter(({ samples }) => samples.length > 0))
}

/** Keeps the first 100 series in total and the first 20 of each metric. */
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
  // JSON has no NaN and Infinity
  const finite = samples.filter(({ value }) => Number.isFinite(value))
  return { ...head, type: metric.type, samples: finite.map(({ labels, value }) => ({ labels: texts(labels), value })) }
}

function measured(sample: BucketSample): MeasuredSample {
  const { labels, count, sum } = sample
  const mean = count > 0 && Number.isFinite(sum) ? sum / count : null
  return { labels: texts(labels), count, mean, p50: boundOf(sample, 0.5), p99: boundOf(sample, 0.99) }
}

/** Returns the smallest bucket bound that covers the given share of all values; null if there is none. */
function boundOf({ buckets, count }: BucketSample, share: number): number | null {
  const bound = count > 0 ? buckets.find((bucket) => bucket.count >= share * count)?.upperBound : undefined
  return bound === undefined || !Number.isFinite(bound) ? null : bound
}

function texts(labels: MetricLabels): MetricLabels {
  const pairs = Object.entries(labels).slice(0, MOST.labels)
  return Object.fromEntries(pairs.map(([name, value]) => [boundedText(name), boundedText(String(value))]))
}
