/** The only source of time: limits, deadlines, leases and timers all use it, so that tests can control time. */
export interface Clock {
  /** Returns monotonic milliseconds since an arbitrary start. May have a fraction; never decreases. */
  now(): number
  /** Returns epoch milliseconds. Used for calendars and headers that contain a date, never for limits. */
  wall(): number
  /** Calls `run` once after `ms` milliseconds. Returns a function that cancels the timer. */
  after(ms: number, run: () => void, options?: TimerOptions): () => void
}

export interface TimerOptions {
  /** Whether the timer keeps the process alive, because a caller awaits its result. Default: false. */
  readonly keepAlive?: boolean | undefined
}
