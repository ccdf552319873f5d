import type { RequestBackend } from '../backend/grouped-backend.ts'
import type { OpenBan } from '../ban/open-ban.ts'
import type { Backend, Counter, Policy } from '../contracts.ts'
import type { FailoverRule } from '../failover/failover-options.ts'
import type { Mode } from '../policy/mode.ts'
import type { KeyTerms } from './key-terms.ts'
import type { LimitCounters } from './limit-counters.ts'
import type { OverrideCounters } from './override-counters.ts'

/** The part of a backend that a limiter uses once its policies are open. */
export type ChargedBackend = RequestBackend & Pick<Backend, 'observe'>

/** A policy of a limiter, opened on its backend. */
export interface OpenPolicy {
  readonly policy: Policy
  /** Counter of the configured limit. */
  readonly counter: Counter
  readonly counters: LimitCounters
  /** Limits and windows of keys; undefined if they do not depend on the request. */
  readonly terms?: KeyTerms | undefined
  /** Returns the counters of keys that have an override. */
  readonly overrides?: OverrideCounters | undefined
  /** Counters by which the policy bans keys; undefined if it does not. */
  readonly ban?: OpenBan | undefined
  /** Backend that receives the charges: the one that opened the counters, or a front of it. */
  readonly backend: ChargedBackend
  /** Backend that opened the counters. */
  readonly home: Backend
  readonly mode: Mode
  /** Failure rule of the policy. Default: the rule of the limiter. */
  readonly failover?: FailoverRule
  /** Closes the counters and releases the name of the policy. */
  readonly close: () => void
}

/** Returns a function that calls each function once. Made here, because it outlives the limiter that it closes. */
export function closeAll(closes: (() => void)[]): () => void {
  return () => {
    for (const close of closes.splice(0)) close()
  }
}
