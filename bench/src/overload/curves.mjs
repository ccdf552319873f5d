import { bucketsOf } from './timeline.mjs'

const points = 100

/** Returns what a picture of a run shows: `{ scenario, contender, atS, limit, held, goodput, p99 }`. */
export function curveOf(contender, { record, samples, scenario }) {
  const bucketMs = Math.max(100, Math.ceil(scenario.durationMs / points / 100) * 100)
  const buckets = bucketsOf(record, { bucketMs, toMs: scenario.durationMs })
  const sampled = buckets.map(({ atMs }) => samplesOf(samples, atMs, atMs + bucketMs))
  return {
    scenario: scenario.name,
    title: scenario.title,
    contender,
    atS: buckets.map(({ atMs }) => rounded((atMs + bucketMs / 2) / 1_000)),
    limit: sampled.map(({ limit }) => rounded(limit)),
    held: sampled.map(({ held }) => rounded(held)),
    goodput: buckets.map(({ good }) => rounded((good * 1_000) / bucketMs)),
    // no request was answered: a gap
    p99: buckets.map(({ p99 }) => (p99 > 0 ? rounded(p99) : null)),
  }
}

function samplesOf({ atMs, limit, held }, fromMs, toMs) {
  const indexes = atMs.flatMap((at, index) => (at >= fromMs && at < toMs ? [index] : []))
  const mean = (values) => indexes.reduce((sum, index) => sum + values[index], 0) / Math.max(1, indexes.length)
  return { limit: mean(limit), held: mean(held) }
}

function rounded(value) {
  return Number(value.toPrecision(3))
}
