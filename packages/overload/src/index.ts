export { type AdaptiveOptions, adaptive } from './limits/adaptive.ts'
export type { LimitAlgorithmName } from './limits/limit-algorithm.ts'
export { type PrioritizedInflightOptions, prioritizedInflight, type QueueOptions } from './priority/prioritized.ts'
export { createPrioritizer, type Prioritizer } from './priority/prioritizer.ts'
