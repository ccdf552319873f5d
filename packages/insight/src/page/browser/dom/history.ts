import type { HistorySnapshot, SnapshotOutcome } from '../../../live/report/snapshot.ts'
import { shiftOf } from './step-shift.ts'

/** Steps per hour (60 and the current one), and per day in quarter hours (including the current one). */
const HOUR_STEPS = 61
export const DAY_STEPS = 96

/**
 * Merges an update into the displayed history, replacing the steps that it repeats. Keeps at most the last `most`
 * steps.
 */
export function mergedHistory(
  shown: HistorySnapshot | undefined,
  update: HistorySnapshot,
  most: number = HOUR_STEPS,
): HistorySnapshot {
  if (shown === undefined) return update
  const shift = shiftOf(shown, update, lengthOf(shown))
  if (shift === undefined) return update
  const series = update.series.map((each) =>
    appended(
      shown.series.find(({ policy, outcome }) => policy === each.policy && outcome === each.outcome),
      each,
      shift,
    ),
  )
  const caps = update.caps.map((each) =>
    appended(
      shown.caps.find(({ cap }) => cap === each.cap),
      each,
      shift,
    ),
  )
  const skipped = Math.max(0, lengthOf({ ...update, series, caps }) - most)
  return {
    ...update,
    startAt: shown.startAt + skipped * update.stepMs,
    series: series.map((each) => ({ ...each, values: each.values.slice(skipped) })),
    caps: caps.map((each) => ({ ...each, values: each.values.slice(skipped) })),
  }
}

/** Returns the update appended to the first `shift` previous values, or to as many zeros. */
function appended<Series extends { readonly values: readonly number[] }>(
  before: Series | undefined,
  update: Series,
  shift: number,
): Series {
  const kept = Array.from({ length: shift }, (_, index) => before?.values[index] ?? 0)
  return { ...update, values: [...kept, ...update.values] }
}

/** Returns the rate per second of each step, for one policy or for all. */
export function ratesOf(
  history: HistorySnapshot,
  { outcome, policy, at }: { outcome: SnapshotOutcome; policy: string | undefined; at: number },
): number[] {
  const chosen = history.series.filter((each) => each.outcome === outcome && (policy ?? each.policy) === each.policy)
  return Array.from({ length: lengthOf(history) }, (_, step) => {
    const sum = chosen.reduce((total, { values }) => total + (values[step] ?? 0), 0)
    return sum / (lastedMs(history, step, at) / 1_000)
  })
}

export function lengthOf({ series, caps }: HistorySnapshot): number {
  return Math.max(0, ...[...series, ...caps].map(({ values }) => values.length))
}

/**
 * Returns the duration of a step. The current step is shorter, but counts as at least 5 s to avoid meaningless rates.
 */
function lastedMs({ startAt, stepMs }: HistorySnapshot, step: number, at: number): number {
  const passedMs = at - (startAt + step * stepMs)
  return Math.min(stepMs, Math.max(passedMs, 5_000))
}
