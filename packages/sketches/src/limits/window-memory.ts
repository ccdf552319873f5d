import type { Policy } from '@sluice/limiter-core'
import type { WindowRule } from './window-rule.ts'
import type { WindowSpans } from './window-spans.ts'

/** Counts of all keys, by time, in memory that is fixed when it is made. Keys come as the 64 bits of their hash. */
export interface WindowMemory {
  /** Of the key that was aimed at last. */
  readonly spans: WindowSpans
  /** How one policy reads it. Throws `SLUICE_BAD_POLICY` where it cannot keep the policy beside those that are bound. */
  ruleOf(policy: Policy): WindowRule
  /** A policy of this rule is asked from now on. */
  bind(rule: WindowRule): void
  /** No limiter has a policy here any more: where nothing was counted either, the next one may have any window. */
  unbind(): void
  /** Makes time stand at `now`; true where what is counted from now on lies in another slot. Before anything counts. */
  turn(now: number): boolean
  /** The instant as of which a question about `now` is answered where time is not made to stand there. */
  asOf(now: number): number
  /** Makes ready to count: the first count begins the time of all keys. */
  open(now: number): void
  /** Reads a key into `spans`: the other methods are about it until the next call. */
  aim(low: number, high: number, now: number): void
  /** Counts units now. */
  add(units: number, now: number): void
  /**
   * Adds units, or takes them back where negative, when they were taken, a later instant being now; answers those that
   * found their place.
   */
  adjust(units: number, takenAt: number, now: number, rule: WindowRule): number
  /** How long after an alarm the next one of the same policy may come, at the start of a slot. */
  alarmAgainAfterMs(rule: WindowRule): number
  /** What is counted now is kept as of this instant or a later one. */
  readonly countsFrom: number
  /** Ms after which nothing is left of what is counted now. */
  readonly keptMs: number
  /** False where nothing can be taken back. */
  readonly refunds: boolean
  /** Units that all keys together may take before noise has grown by one, at the least. */
  readonly width: number
}
