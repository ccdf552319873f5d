import type { FailoverSize } from './failover-state.ts'

const NONE = { lates: 0, breaks: 0, losses: 0, replies: 'awaited' } as const

/** Sizes that `npm test` explores completely. */
export const failoverSizes: readonly FailoverSize[] = [
  { ...NONE, processes: 2, limit: 3, lates: 3 },
  { ...NONE, processes: 2, limit: 2, lates: 1, breaks: 1, losses: 1 },
  { ...NONE, processes: 2, limit: 2, lates: 2, replies: 'any' },
  { ...NONE, processes: 3, limit: 2, lates: 2 },
  { ...NONE, processes: 4, limit: 3, lates: 1 },
]

/** Sizes that `npm run test:long` explores completely. */
export const longFailoverSizes: readonly FailoverSize[] = [
  { ...NONE, processes: 2, limit: 2, lates: 1, breaks: 1, losses: 1, replies: 'ordered' },
  { ...NONE, processes: 3, limit: 2, breaks: 1 },
  { ...NONE, processes: 4, limit: 1, lates: 1, losses: 1 },
]
