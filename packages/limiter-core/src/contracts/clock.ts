/** The only source of time. Deadlines, leases, sweeps and ticks all use it, so that tests can control time. */
export interface Clock {
  /** Monotonic milliseconds since an arbitrary start; may have a fraction; never steps back. */
  now(): number
  /** Epoch milliseconds. For calendars and for headers that need a date; a limit never reads it. */
  wall(): number
  /**
   * Runs `run` once after `ms` milliseconds. Returns a function that cancels the timer. The timer keeps the process
   * alive only with `keepAlive`.
   */
  after(ms: number, run: () => void, options?: TimerOptions): () => void
}

export interface TimerOptions {
  /** Whether a caller awaits the result of the timer, so that the process must not exit before. Default: false. */
  readonly keepAlive?: boolean
}
