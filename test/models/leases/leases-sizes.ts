import type { LeasesSize } from './leases-state.ts'

const NONE = { kills: 0, faults: 0 }
const endless = Number.POSITIVE_INFINITY

/** Sizes that `npm test` explores completely. */
export const leasesSizes: readonly LeasesSize[] = [
  { processes: 3, limit: 1, window: endless, ticks: 1, ...NONE },
  { processes: 1, limit: 2, window: 3, ticks: 2, ...NONE },
  { processes: 2, limit: 3, window: endless, ticks: 1, ...NONE },
  { processes: 2, limit: 1, window: 2, ticks: 1, kills: 1, faults: 0 },
  { processes: 2, limit: 1, window: endless, ticks: 1, kills: 1, faults: 1 },
]

/** Sizes that `npm run test:long` explores completely. */
export const longLeasesSizes: readonly LeasesSize[] = [
  { processes: 2, limit: 1, window: 3, ticks: 2, kills: 1, faults: 1 },
  { processes: 2, limit: 2, window: endless, ticks: 1, kills: 1, faults: 1 },
  { processes: 3, limit: 1, window: endless, ticks: 1, kills: 1, faults: 1 },
  { processes: 3, limit: 2, window: endless, ticks: 1, ...NONE },
  { processes: 4, limit: 1, window: endless, ticks: 1, kills: 1, faults: 0 },
]
