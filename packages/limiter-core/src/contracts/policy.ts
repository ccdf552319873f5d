/** A named promise: at most `limit` units per `windowMs` for each key. Data only: logged, stored, compared, written in YAML. */
export interface Policy {
  readonly name: string
  readonly algorithm: AlgorithmName
  /** Whole units, at least 1. */
  readonly limit: number
  /** Milliseconds, at least 1. */
  readonly windowMs: number
  /** token-bucket and gcra: how many units fit at once; default: `limit`. */
  readonly burst?: number
  /** sliding-window: into how many slices the window is cut; 1 is the weighted two-epoch counter. */
  readonly slices?: number
  /** What is counted; default: `requests`. */
  readonly unit?: string
  /** Durable quotas only: the window follows the calendar of a time zone. */
  readonly calendar?: { readonly per: 'day' | 'week' | 'month'; readonly timeZone: string }
}

export type AlgorithmName = 'fixed-window' | 'sliding-window' | 'sliding-log' | 'token-bucket' | 'gcra'
