import type { HistorySnapshot, SnapshotOutcome } from '../../live/snapshot.ts'

/** An hour of minutes, or a day of quarters of an hour, and the step that runs. */
const HOUR_STEPS = 61
export const DAY_STEPS = 96

/** The history that was shown, with an update of its last steps; at most the last `most` steps of both. */
export function mergedHistory(
  shown: HistorySnapshot | undefined,
  update: HistorySnapshot,
  most: number = HOUR_STEPS,
): HistorySnapshot {
  const shift = shown === undefined ? -1 : (update.startAt - shown.startAt) / update.stepMs
  // of another start of the server, or of after a gap
  const isOther = shown === undefined || shown.stepMs !== update.stepMs || !Number.isInteger(shift) || shift < 0
  if (isOther || shift > lengthOf(shown)) return update
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

/** Rates of each step, a second, of one policy or of all together. */
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

/** Returns the elapsed time of a step; the current one is shorter, and its first seconds are not meaningful. */
function lastedMs({ startAt, stepMs }: HistorySnapshot, step: number, at: number): number {
  const passedMs = at - (startAt + step * stepMs)
  return Math.min(stepMs, Math.max(passedMs, 5_000))
}
