import type { HistorySnapshot, InsightSnapshot } from '../live/snapshot.ts'

/** Entries of each list that a page gets, and characters of each text. */
const MOST = { policies: 50, series: 200, rows: 100, talkers: 10, controls: 20, characters: 160 }
/** Steps of the history: an hour of minutes, and the minute that runs. */
const ALL_STEPS = 61
/** Steps that each update repeats: what a viewer may have seen half of. */
const LAST_STEPS = 3

/** The text of one update, of a size that does not grow with what is watched. `isWhole`: with all of the history. */
export function snapshotText(snapshot: InsightSnapshot, isWhole: boolean): string {
  const { uniques, policies } = snapshot
  const bounded: InsightSnapshot = {
    ...snapshot,
    processes: snapshot.processes.slice(0, MOST.rows),
    policies: policies.slice(0, MOST.policies).map((policy) => ({
      ...policy,
      topAllowed: policy.topAllowed.slice(0, MOST.talkers),
      topDenied: policy.topDenied.slice(0, MOST.talkers),
    })),
    caps: snapshot.caps.slice(0, MOST.rows),
    routes: snapshot.routes.slice(0, MOST.rows),
    uniques: { hour: uniques.hour, day: uniques.day },
    backends: snapshot.backends.slice(0, MOST.rows),
    events: snapshot.events.slice(0, MOST.rows),
    controls: snapshot.controls.slice(0, MOST.controls),
    history: boundedHistory(snapshot.history, isWhole ? ALL_STEPS : LAST_STEPS),
  }
  return JSON.stringify(bounded, (_name, value) => (typeof value === 'string' ? boundedText(value) : value))
}

function boundedHistory({ startAt, stepMs, series }: HistorySnapshot, steps: number): HistorySnapshot {
  const shown = series.slice(0, MOST.series)
  const skipped = Math.max(0, ...shown.map(({ values }) => values.length - steps))
  return {
    startAt: startAt + skipped * stepMs,
    stepMs,
    series: shown.map((each) => ({ ...each, values: each.values.slice(skipped) })),
    caps: [],
  }
}

function boundedText(text: string): string {
  return text.length <= MOST.characters ? text : `${text.slice(0, MOST.characters - 1)}…`
}
