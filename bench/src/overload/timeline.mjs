import { OTHER, REFUSED, SUCCESS } from './load/outcomes.mjs'

/** A client has a use for an answer that arrives within so many milliseconds. */
const usefulMs = 1_000

/**
 * Sums up the requests of a record that were due from `fromMs` to before `toMs`, of one source if it is named.
 * `good` are successes within `usefulMs`. Latencies are those of successes, from the time when a request was due.
 */
export function totalsOf(record, { fromMs = 0, toMs = Number.POSITIVE_INFINITY, source } = {}) {
  const totals = { sent: 0, admitted: 0, good: 0, refused: 0, failed: 0 }
  const latencies = []
  for (let index = 0; index < record.dueMs.length; index++) {
    const dueMs = record.dueMs[index]
    if (dueMs < fromMs || dueMs >= toMs || (source !== undefined && record.source[index] !== source)) continue
    totals.sent++
    const outcome = record.outcome[index]
    if (outcome === REFUSED) totals.refused++
    // the client stopped waiting for an admitted request
    else totals.admitted++
    if (outcome === OTHER) totals.failed++
    if (outcome !== SUCCESS) continue
    latencies.push(record.latencyMs[index])
    if (record.latencyMs[index] <= usefulMs) totals.good++
  }
  const sorted = Float64Array.from(latencies).sort()
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { ...totals, answered: sorted.length, p50: at(0.5), p99: at(0.99) }
}

/** Sums up a record for each `bucketMs`: `[{ atMs, sent, good, refused, p50, p99 }]`. */
export function bucketsOf(record, { bucketMs, fromMs = 0, toMs }) {
  const parts = Array.from({ length: Math.ceil((toMs - fromMs) / bucketMs) }, emptyRecord)
  for (let index = 0; index < record.dueMs.length; index++) {
    const part = parts[Math.floor((record.dueMs[index] - fromMs) / bucketMs)]
    if (!part) continue
    part.dueMs.push(record.dueMs[index])
    part.source.push(record.source[index])
    part.outcome.push(record.outcome[index])
    part.latencyMs.push(record.latencyMs[index])
  }
  return parts.map((part, index) => ({ atMs: fromMs + index * bucketMs, ...totalsOf(part) }))
}

function emptyRecord() {
  return { dueMs: [], source: [], outcome: [], latencyMs: [] }
}

const lateMs = 20
const mostLate = 0.01

/**
 * Returns the share of requests that were sent late, and whether they are so few that the load was an open loop: the
 * latency includes the lateness, but a load that waits is not the load of the scenario.
 */
export function punctuality(record) {
  const share = record.lateMs.filter((ms) => ms > lateMs).length / Math.max(1, record.lateMs.length)
  return { lateShare: share, isValid: share <= mostLate }
}
