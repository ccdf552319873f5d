// Entry point for `@sluice/overload`: what the options of `inflightLimit` and `shed` need, without requests.
export type { CheckHealth } from './overload/health/health-check.ts'
export type { ShedSignal } from './overload/health/process-signals.ts'
export { createShedder, type Shedder } from './overload/health/shedder.ts'
export type { ShedderOptions, ShedSignals } from './overload/health/shedder-options.ts'
export type { SignalThreshold } from './overload/health/signal-range.ts'
export { levelOf } from './overload/priority/levels.ts'
export {
  type PrioritizedInflightOptions,
  prioritizedInflight,
  type QueueOptions,
} from './overload/priority/prioritized.ts'
export { createPrioritizer, type Prioritizer } from './overload/priority/prioritizer.ts'
export { type Waiter, WaitingRoom } from './overload/priority/waiting-room.ts'
export { steadyClock } from './overload/steady-clock.ts'
