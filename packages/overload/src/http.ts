// Entry point for authors of adapters: what the options of `inflightLimit` and `shed` need.

export type { InflightBackend, Priority } from '@sluice/limiter-core'
export type { Refusal, Shedder } from './health/shedder.ts'
export { HealthShedder } from './health/shedder.ts'
export { SHED_SIGNALS, type ShedderRules, type ShedSignals, shedderRules } from './health/shedder-options.ts'
export { PRIORITIES } from './priority/levels.ts'
export { type PrioritizedInflightOptions, prioritizedInflight, type QueueOptions } from './priority/prioritized.ts'
export type { Prioritizer } from './priority/prioritizer.ts'
