/** When a policy bans a key, and for how long. Durations are integers in milliseconds. */
export interface BanTerms {
  /** Number of strikes within `withinMs` that ban a key, at least 1. */
  readonly after: number
  readonly withinMs: number
  /** Duration of the first ban. */
  readonly forMs: number
  /** Factor by which each further ban is longer, at least 1. */
  readonly growth: number
  /** Duration of the longest ban. */
  readonly maxMs: number
  /** Time after the start of a ban during which the ban makes the next one longer. */
  readonly forgetMs: number
  /** Whether denied requests, failed ones, or those that fail with one of some statuses are strikes. */
  readonly strikes: 'denials' | 'failures' | readonly number[]
  /** Whether a success clears the strikes of its key. */
  readonly forgives: boolean
  /** Whether each request of a banned key restarts its ban. */
  readonly extends: boolean
}
