import type { Fund, HeldUnits } from '@sluice/limiter-core'
import type { ControlEntry } from '../control/control.ts'
import type { DenialSnapshot } from '../live/snapshot.ts'

/** Why a key was limited, and what it may do now. Durations are in ms, times in ms since 1970. */
export interface Explanation {
  readonly at: number
  /** As `privacy` shows it. */
  readonly key: string
  readonly cost: number
  /** The answer in words, the most urgent first. */
  readonly summary: readonly string[]
  /** Each policy of each limiter of this process that is not off, at most 200. A key that a policy never counted is new to it. */
  readonly policies: readonly PolicyExplanation[]
  /** Changes by operators that hold for this key. */
  readonly controls: readonly ControlEntry[]
  /** Of late, latest first, at most 20. */
  readonly denials: readonly DenialSnapshot[]
  /** False where `denials` are those of this process alone. */
  readonly isWholeFleet: boolean
}

export interface PolicyExplanation {
  readonly policy: string
  readonly mode: 'enforce' | 'shadow' | 'off'
  readonly backend: string
  /** True where the count is of this process alone. */
  readonly perProcess: boolean
  /** The limit of this key: its own where it has one. */
  readonly limit: number
  readonly isOverride: boolean
  readonly windowMs: number
  readonly unit: string
  /** Exempt: none of the rest is known. */
  readonly isExempt: boolean
  /** Whole units; those on lease are among them. */
  readonly used: number
  readonly remaining: number
  /** What one more unit, and `cost` more, would be answered. */
  readonly one: AskedSnapshot
  readonly asked: AskedSnapshot
  /** Until more is left; 0 for a key that is full. */
  readonly availableAfterMs: number
  /** Until it is as good as new. */
  readonly resetAfterMs: number
  /** Of a quota: which units are missing, or would be used. */
  readonly fund?: Fund | undefined
  /** False where a failure rule answers, or nobody does. */
  readonly isCounted: boolean
  /** Who answered: `memory`, `redis`, `local`, … */
  readonly source: string
  readonly held: readonly HeldUnits[]
  readonly text: string
}

export interface AskedSnapshot {
  readonly allowed: boolean
  /** Null where it never fits. */
  readonly retryAfterMs: number | null
}
