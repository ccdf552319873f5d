import type { SyncSize } from './sync-state.ts'

const NONE = { losses: 0, kills: 0, faults: 0 }

/** Sizes that `npm test` explores completely. */
export const syncSizes: readonly SyncSize[] = [
  { processes: 1, limit: 3, losses: 2, kills: 0, faults: 1 },
  { processes: 2, limit: 3, ...NONE },
  { processes: 2, limit: 1, losses: 1, kills: 1, faults: 0 },
]

/** Sizes that `npm run test:long` explores completely. */
export const longSyncSizes: readonly SyncSize[] = [
  { processes: 2, limit: 2, losses: 1, kills: 0, faults: 0 },
  { processes: 2, limit: 1, losses: 1, kills: 0, faults: 1 },
]
