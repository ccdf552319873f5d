// Entry point for authors of adapters: what the options of `inflightLimit` need.

export { PRIORITIES } from './priority/levels.ts'
export { type PrioritizedInflightOptions, prioritizedInflight, type QueueOptions } from './priority/prioritized.ts'
export type { Prioritizer } from './priority/prioritizer.ts'
