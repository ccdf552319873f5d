// Entry point for authors of ledgers that add up the usage of all processes, and of backends that report usage to them.

export { maxLateMs } from './sync/charge-late.ts'
export type { SilenceRule } from './sync/ledger-outage.ts'
export { MemorySyncLedger } from './sync/memory-sync-ledger.ts'
export type { ReceivedCounts, ReportedTakes, SyncAnswer, SyncBatch, SyncLedger } from './sync/sync-ledger.ts'
export { DEFAULT_MAX_KEYS, SYNC_OPTIONS, type SyncOptions, type SyncTerms, syncTermsOf } from './sync/sync-terms.ts'
export type { SyncedCharge, SyncedCounter } from './sync/synced-counter.ts'
export { SyncingBackend, type SyncingDeps } from './sync/syncing-backend.ts'
