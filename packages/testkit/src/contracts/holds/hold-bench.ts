import type { Backend, Policy } from '@sluice/limiter-core/backend'
import type { FakeClock } from '../../fake-clock.ts'

/** The backend under test, its clock, and a policy whose window it supports. */
export interface HoldBench {
  readonly backend: Backend
  readonly clock: FakeClock
  readonly hour: Policy
  /** Resolves when the backend has answered all calls; undefined if calls may need a clock that moves. */
  readonly answered?: (() => Promise<void>) | undefined
}
