import type { HistorySnapshot } from '../live/snapshot.ts'

/** Series of policies, and of caps. */
const MOST = { series: 200, caps: 20 }
/** A step of the day. Of 24 hours, 96 of them are known as a whole, the one that runs included. */
const DAY_STEP_MS = 15 * 60_000
const DAY_STEPS = 96

/** The last steps of a history, of the first of its series. */
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

/** Returns a day of history in steps of 15 minutes, aligned to the clock; at most the last `steps`. */
export function dayOf(history: HistorySnapshot, steps: number = DAY_STEPS): HistorySnapshot {
  const each = DAY_STEP_MS / history.stepMs
  const passed = (history.startAt / history.stepMs + lengthOf(history)) % each || each
  const whole = lastSteps(history, (steps - 1) * each + passed)
  const startAt = Math.floor(whole.startAt / DAY_STEP_MS) * DAY_STEP_MS
  // steps of the first quarter that were before all that is known
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

function lengthOf({ series, caps }: Pick<HistorySnapshot, 'series' | 'caps'>): number {
  return Math.max(0, ...[...series, ...caps].map(({ values }) => values.length))
}
