/** The only source of time. Deadlines, leases, sweeps and ticks all go through it, so that a test can own time. */
export interface Clock {
  /** Monotonic milliseconds since an arbitrary start; may have a fraction; never steps back. */
  now(): number
  /** Epoch milliseconds. For calendars and for headers that need a date; a limit never reads it. */
  wall(): number
  /** Runs `run` once after `ms`. Returns a function that cancels it. Keeps the process alive only with `keepAlive`. */
  after(ms: number, run: () => void, options?: TimerOptions): () => void
}

export interface TimerOptions {
  /** Somebody awaits what the timer ends: the process must not end before. Default: false. */
  readonly keepAlive?: boolean
}
