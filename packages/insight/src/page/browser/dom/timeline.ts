import type { CapTimelineSnapshot, TimelineSnapshot } from '../../../live/report/cap-snapshot.ts'
import { shiftOf } from './step-shift.ts'

/** Five minutes in steps of 2 s. */
const STEPS = 150

/**
 * Merges an update into the displayed timeline, replacing the steps that it repeats. Keeps the last five minutes. A
 * measure that did not occur in the last steps is not in the update, and keeps its earlier values.
 */
export function mergedTimeline(shown: TimelineSnapshot | undefined, update: TimelineSnapshot): TimelineSnapshot {
  if (shown === undefined) return update
  const shift = shiftOf(shown, update, lengthOf(shown))
  if (shift === undefined) return update
  const length = shift + lengthOf(update)
  const skipped = Math.max(0, length - STEPS)
  const known = [...update.series, ...shown.series.filter((one) => !update.series.some((each) => isSame(one, each)))]
  const series = known.map((each) => {
    const before = shown.series.find((one) => isSame(one, each))?.values ?? []
    const after = update.series.find((one) => isSame(one, each))?.values ?? []
    const values = Array.from({ length }, (_, step) => (step < shift ? before[step] : after[step - shift]) ?? null)
    return { ...each, values: values.slice(skipped) }
  })
  // a cap that is gone from the update is gone
  const isReported = ({ cap }: CapTimelineSnapshot): boolean => update.series.some((each) => each.cap === cap)
  return { ...update, startAt: shown.startAt + skipped * update.stepMs, series: series.filter(isReported) }
}

function isSame(one: CapTimelineSnapshot, other: CapTimelineSnapshot): boolean {
  return one.cap === other.cap && one.measure === other.measure && one.priority === other.priority
}

function lengthOf({ series }: TimelineSnapshot): number {
  return Math.max(0, ...series.map(({ values }) => values.length))
}
