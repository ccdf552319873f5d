import { valueAt } from './load/steps.mjs'
import { bucketsOf, totalsOf } from './timeline.mjs'

const longestWarmupMs = 1_000

/** The start of a run is not judged: code is not compiled, and connections are not open. */
export function warmupOf(durationMs) {
  return Math.min(longestWarmupMs, durationMs / 10)
}

/** Returns 0 if there is nothing to compare with, as in very short runs. */
export function ratio(value, base) {
  return base > 0 ? value / base : 0
}

/** The stages of a scenario: times between two changes of the load or of the service. */
export function stagesOf({ sources, service, durationMs }) {
  const changes = [...sources.map(({ rate }) => rate), service.serviceMs ?? []].flat().map(([fromMs]) => fromMs)
  const starts = [...new Set([0, ...changes])].sort((one, other) => one - other)
  return starts.map((fromMs, index) => ({
    fromMs: fromMs === 0 ? warmupOf(durationMs) : fromMs,
    toMs: starts[index + 1] ?? durationMs,
    serviceMs: service.cpuMs ?? valueAt(service.serviceMs, fromMs),
    perSecond: capacityOf(service, fromMs),
  }))
}

/** Requests per second that the service can complete. */
function capacityOf({ workers = 1, serviceMs, cpuMs, measuredPerSecond }, atMs) {
  return measuredPerSecond ?? (workers * 1_000) / (cpuMs ?? valueAt(serviceMs, atMs))
}

/** Goodput of a stage as a part of what was possible: of its load or of the capacity, whichever is less. */
export function goodputShare(record, { fromMs, toMs, perSecond }) {
  const { good, sent } = totalsOf(record, { fromMs, toMs })
  return ratio(good, Math.min(sent, (perSecond * (toMs - fromMs)) / 1_000))
}

/** p99 of successes in a stage, in service times. */
export function p99ServiceTimes(record, { fromMs, toMs, serviceMs }) {
  return totalsOf(record, { fromMs, toMs }).p99 / serviceMs
}

/**
 * Milliseconds from the start of a stage until goodput is at least 90 % of the possible, and the p99 at most
 * `mostMs`, over a window of `windowMs`. The length of the stage if that never happens.
 */
export function settledAfterMs(record, stage, { windowMs, mostMs, bucketMs }) {
  const { fromMs, toMs } = stage
  const buckets = bucketsOf(record, { bucketMs, fromMs, toMs })
  for (const { atMs } of buckets) {
    const window = { ...stage, fromMs: atMs, toMs: atMs + windowMs }
    if (window.toMs > toMs) break
    const isSettled = goodputShare(record, window) >= 0.9 && totalsOf(record, window).p99 <= mostMs
    if (isSettled) return atMs - fromMs
  }
  return toMs - fromMs
}

/** Share of the requests of a source that were answered in time. */
export function successShare(record, source, window) {
  const { sent, good } = totalsOf(record, { ...window, source })
  return ratio(good, sent)
}

/** The largest limit that the server had after `fromMs`; 0 if it had none. */
export function largestLimit({ atMs, limit }, fromMs) {
  return Math.max(0, ...limit.filter((_, index) => atMs[index] >= fromMs))
}
