import type { HistorySnapshot, InsightSnapshot } from '../live/snapshot.ts'

/** What a page is sent: a snapshot with the last hour minute by minute, and the last day in coarser steps beside it. */
export interface PageUpdate extends InsightSnapshot {
  readonly day: HistorySnapshot
}
