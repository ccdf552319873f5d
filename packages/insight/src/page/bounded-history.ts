import type { TimelineSnapshot } from '../live/report/cap-snapshot.ts'
import type { HistorySnapshot } from '../live/report/snapshot.ts'

/** Maximum number of series. */
const MOST = { series: 200, caps: 20, timeline: 200 }
/** Step of the 24-hour history. With 96 steps, including the current one, all other steps are complete. */
const DAY_STEP_MS = 15 * 60_000
const DAY_STEPS = 96

/** Returns the last `steps` steps of a history, for a bounded number of series. */
export function lastSteps({ startAt, stepMs, series, caps }: HistorySnapshot, steps: number): HistorySnapshot {
  const shown = { series: series.slice(0, MOST.series), caps: caps.slice(0, MOST.caps) }
  const skipped = Math.max(0, lengthOf(shown) - steps)
  return {
    startAt: startAt + skipped * stepMs,
    stepMs,
    series: shown.series.map((each) => ({ ...each, values: each.values.slice(skipped) })),
    caps: shown.caps.map((each) => ({ ...each, values: each.values.slice(skipped) })),
  }
}

/** Returns the last 24 hours in steps of 15 minutes, aligned to quarter hours; at most the last `steps` of them. */
export function dayOf(history: HistorySnapshot, steps: number = DAY_STEPS): HistorySnapshot {
  const each = DAY_STEP_MS / history.stepMs
  const passed = (history.startAt / history.stepMs + lengthOf(history)) % each || each
  const whole = lastSteps(history, (steps - 1) * each + passed)
  const startAt = Math.floor(whole.startAt / DAY_STEP_MS) * DAY_STEP_MS
  // number of steps missing at the start of the first quarter hour
  const before = Math.round((whole.startAt - startAt) / history.stepMs)
  const coarse = (values: readonly number[], join: (one: number, other: number) => number) => {
    const joined: number[] = []
    for (const [index, value] of values.entries()) {
      const place = Math.floor((before + index) / each)
      joined[place] = join(joined[place] ?? 0, value)
    }
    return joined
  }
  return {
    startAt,
    stepMs: DAY_STEP_MS,
    series: whole.series.map((one) => ({ ...one, values: coarse(one.values, (sum, value) => sum + value) })),
    caps: whole.caps.map((one) => ({ ...one, values: coarse(one.values, Math.max) })),
  }
}

/** Returns the last `steps` steps of a timeline, for a bounded number of series. Default: all steps. */
export function lastOfTimeline({ startAt, stepMs, series }: TimelineSnapshot, steps?: number): TimelineSnapshot {
  const length = Math.max(0, ...series.map(({ values }) => values.length))
  const skipped = Math.max(0, length - (steps ?? length))
  const shown = series.slice(0, MOST.timeline).map((each) => ({ ...each, values: each.values.slice(skipped) }))
  return { startAt: startAt + skipped * stepMs, stepMs, series: shown }
}

function lengthOf({ series, caps }: Pick<HistorySnapshot, 'series' | 'caps'>): number {
  return Math.max(0, ...[...series, ...caps].map(({ values }) => values.length))
}
