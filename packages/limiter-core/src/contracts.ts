/**
 * Every noun of the suite, one file each. Backends, adapters and observers depend on these; they depend on nothing.
 * All durations are milliseconds, all times are readings of a `Clock`.
 */

export type * from './contracts/answer.ts'
export type * from './contracts/backend.ts'
export type * from './contracts/channel.ts'
export type * from './contracts/charge.ts'
export type * from './contracts/clock.ts'
export type * from './contracts/compiled-policy.ts'
export type * from './contracts/counter.ts'
export type * from './contracts/counters.ts'
export type * from './contracts/decision.ts'
export type * from './contracts/inflight-backend.ts'
export type * from './contracts/interruption.ts'
export type * from './contracts/limit-overrides.ts'
export type * from './contracts/maybe-promise.ts'
export type * from './contracts/metric-source.ts'
export type * from './contracts/moment.ts'
export type * from './contracts/observer.ts'
export type * from './contracts/permit.ts'
export type * from './contracts/policy.ts'
export type * from './contracts/prior-usage.ts'
export type * from './contracts/request-hook.ts'
export type * from './contracts/request-view.ts'
export type * from './contracts/script-runner.ts'
export type * from './contracts/sql-runner.ts'
export type * from './contracts/verdict.ts'
