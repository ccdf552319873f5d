import type { GossipSize } from './gossip-state.ts'

/** Sizes that `npm test` explores completely. */
export const gossipSizes: readonly GossipSize[] = [
  { replicas: 2, kills: 1, silences: 4 },
  { replicas: 3, kills: 1, silences: 4 },
]

/** Sizes that `npm run test:long` explores completely. */
export const longGossipSizes: readonly GossipSize[] = [
  { replicas: 3, kills: 1, silences: 5 },
  { replicas: 4, kills: 0, silences: 3 },
]
