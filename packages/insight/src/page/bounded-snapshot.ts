import { boundedText, MAX_TEXT_LENGTH } from '../bounded-text.ts'
import type { InsightSnapshot, UniqueDaySnapshot } from '../live/report/snapshot.ts'
import { boundedSources } from '../live/source-snapshots.ts'
import { dayOf, lastOfTimeline, lastSteps } from './bounded-history.ts'
import type { PageUpdate } from './page-update.ts'

/** Maximum number of entries per list in an update. */
const MOST = { policies: 50, caps: 20, rows: 100, topKeys: 10, controls: 20, days: 31 }
/** 60 minutes and the current one. */
const HOUR_STEPS = 61
/** Number of steps repeated by each update, because a viewer may have seen an incomplete one. */
const LAST_STEPS = 3
/** Steps of the timeline in each update: more than a minute, the longest interval between updates. */
const LAST_TIMELINE_STEPS = 32

/** Serialises one update. Its size is bounded, however much is observed. `isWhole` includes the full history. */
export function snapshotText(snapshot: InsightSnapshot, isWhole: boolean): string {
  const { uniques, policies } = snapshot
  const bounded: PageUpdate = {
    ...snapshot,
    processes: snapshot.processes.slice(0, MOST.rows),
    policies: policies.slice(0, MOST.policies).map((policy) => ({
      ...policy,
      topAllowed: policy.topAllowed.slice(0, MOST.topKeys),
      topDenied: policy.topDenied.slice(0, MOST.topKeys),
    })),
    caps: snapshot.caps.slice(0, MOST.caps),
    sheds: snapshot.sheds.slice(0, MOST.caps),
    routes: snapshot.routes.slice(0, MOST.rows),
    uniques: {
      hour: uniques.hour,
      day: uniques.day,
      ...(uniques.days && { days: uniques.days.slice(-MOST.days).map(dayAlone) }),
    },
    backends: snapshot.backends.slice(0, MOST.rows),
    bans: snapshot.bans.slice(0, MOST.rows),
    events: snapshot.events.slice(0, MOST.rows),
    controls: snapshot.controls.slice(0, MOST.controls),
    sources: boundedSources(snapshot.sources),
    history: lastSteps(snapshot.history, isWhole ? HOUR_STEPS : LAST_STEPS),
    timeline: lastOfTimeline(snapshot.timeline, isWhole ? undefined : LAST_TIMELINE_STEPS),
    day: dayOf(snapshot.history, isWhole ? undefined : LAST_STEPS),
  }
  return JSON.stringify(bounded, (_name, value) => (isLong(value) ? boundedText(value) : value))
}

function isLong(value: unknown): value is string {
  return typeof value === 'string' && value.length > MAX_TEXT_LENGTH
}

/** Leaves out the routes of a day, which only `Insight.snapshot` returns. */
function dayAlone({ date, count }: UniqueDaySnapshot): UniqueDaySnapshot {
  return { date, count }
}
