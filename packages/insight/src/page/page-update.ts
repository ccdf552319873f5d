import type { HistorySnapshot, InsightSnapshot } from '../live/report/snapshot.ts'

/** The data of an update: a snapshot with the last hour per minute, and the last day in coarser steps. */
export interface PageUpdate extends InsightSnapshot {
  readonly day: HistorySnapshot
}
