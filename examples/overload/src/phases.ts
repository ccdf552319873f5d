export interface Phase {
  readonly name: string
  /** Requests per second. */
  readonly perSecond: number
  /** Duration of a database query in ms. */
  readonly queryMs: number
}

/** Connections of the database: with queries of 50 ms, it completes 240 requests per second. */
export const CONNECTIONS = 12

export const phases: readonly Phase[] = [
  { name: 'Calm', perSecond: 60, queryMs: 50 },
  { name: 'Slow database', perSecond: 60, queryMs: 500 },
  { name: 'Recovery', perSecond: 60, queryMs: 50 },
  { name: 'Ten times the load', perSecond: 600, queryMs: 50 },
]
