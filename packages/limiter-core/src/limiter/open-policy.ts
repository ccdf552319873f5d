import type { Backend, Counter, Policy } from '../contracts.ts'
import type { FailoverRule } from '../failover/failover-options.ts'
import type { Mode } from '../policy/mode.ts'
import type { LimitCounters } from './limit-counters.ts'
import type { OverrideCounters } from './override-counters.ts'

/** A policy of a limiter, ready to be charged. */
export interface OpenPolicy {
  readonly policy: Policy
  /** That of its own limit. */
  readonly counter: Counter
  readonly counters: LimitCounters
  /** Finds the counters of keys that have limits of their own. */
  readonly overrides?: OverrideCounters | undefined
  /** Has opened the counter. */
  readonly backend: Backend
  readonly mode: Mode
  /** Who answers while the backend does not; the rule of the limiter unless given. */
  readonly failover?: FailoverRule
  /** Closes the counters, and gives its name back. */
  readonly close: () => void
}
