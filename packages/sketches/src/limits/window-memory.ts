import type { Policy } from '@sluice/limiter-core'
import type { WindowRule } from './window-rule.ts'
import type { WindowSpans } from './window-spans.ts'

/** Counts of all keys, by time, in memory that is fixed when it is made. Keys come as the 64 bits of their hash. */
export interface WindowMemory {
  /** Parts of the selected key. */
  readonly spans: WindowSpans
  /**
   * Returns how a policy reads the counts. Throws `SLUICE_BAD_POLICY` if it cannot be counted together with the bound
   * policies.
   */
  ruleOf(policy: Policy): WindowRule
  /** Binds the rule of a policy that is now in use. */
  bind(rule: WindowRule): void
  /** Called when no limiter has a policy here: if nothing was counted either, the next one may have any window. */
  unbind(): void
  /** Advances to `now`; returns true if further counts belong to another slot. Call it before counting. */
  turn(now: number): boolean
  /** Returns the instant at which a query about `now` is answered without advancing. */
  asOf(now: number): number
  /** Makes ready to count: the first count begins the time of all keys. */
  open(now: number): void
  /** Reads a key into `spans`: the other methods are about it until the next call. */
  aim(low: number, high: number, now: number): void
  /** Counts units now. */
  add(units: number, now: number): void
  /**
   * Adds units, or refunds negative ones, at the time when they were taken; a time in the future means now. Returns
   * the units that were applied.
   */
  adjust(units: number, takenAt: number, now: number, rule: WindowRule): number
  /** Milliseconds after which an alarm of the same policy may repeat, at the start of a slot. */
  alarmAgainAfterMs(rule: WindowRule): number
  /** What is counted now is stored with this instant or a later one. */
  readonly countsFrom: number
  /** Milliseconds after which nothing is left of what is counted now. */
  readonly keptMs: number
  /** False where nothing can be taken back. */
  readonly refunds: boolean
  /** Units that all keys together may take before noise has grown by one, at the least. */
  readonly width: number
}
