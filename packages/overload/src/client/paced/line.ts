import { type Backend, type Clock, createLimiter, type Limiter, type MaybePromise } from '@sluice/limiter-core'
import { andThen } from '@sluice/limiter-core/backend'

/** A place in the line. */
export interface Place {
  /** Milliseconds until the next request may be sent; 0 if this one may be sent. */
  readonly waitMs: number
  /** Number of requests that were sent before. */
  readonly order: number
  /** The gap that the processes of a fleet have found, in microseconds; 0 if none has found one. */
  readonly gapUs: number | undefined
}

/** The order in which all callers of one upstream send: one after another, at distances that they choose. */
export interface Line {
  /** Takes the next place if it is free. */
  take(): MaybePromise<Place>
  /**
   * Keeps the place after the request that was sent last free for `ms` milliseconds, and adds `moreUs` to the gap of the
   * fleet.
   */
  occupy(ms: number, moreUs: number): MaybePromise<unknown>
  /** Sends nothing for `ms` milliseconds from now. */
  block(ms: number): MaybePromise<unknown>
}

/** How late a request may be so that the next one follows at its own time. */
const LATE_MS = 20

/** Limit and window of the numbers of a fleet. */
const [LARGEST, REMEMBERED] = [1e12, '30d'] as const

/** The line of one process. */
export class LocalLine implements Line {
  readonly #clock: Clock
  #nextAtMs = Number.NEGATIVE_INFINITY
  #order = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  take(): Place {
    const waitMs = this.#nextAtMs - this.#clock.now()
    // times are sums of fractions
    return waitMs > 1e-3 ? { waitMs, order: 0, gapUs: undefined } : { waitMs: 0, order: this.#order++, gapUs: undefined }
  }

  occupy(ms: number): void {
    this.#nextAtMs = Math.max(this.#nextAtMs, this.#clock.now() - Math.min(ms, LATE_MS)) + ms
  }

  block(ms: number): void {
    this.#nextAtMs = Math.max(this.#nextAtMs, this.#clock.now() + ms)
  }
}

/** The lines of a fleet: one unit of a limit is a millisecond in which no other process sends. */
export class FleetLines {
  readonly #limiter: Limiter

  constructor(backend: Backend, clock: Clock) {
    this.#limiter = createLimiter({
      backend,
      clock,
      scope: 'paced-fetch',
      shared: true,
      policies: [
        { name: 'line', limit: 1_000, window: '1s', algorithm: 'gcra', burst: LATE_MS },
        // their units are numbers that all processes read: that of the requests, and the gap in microseconds
        { name: 'sent', limit: LARGEST, window: REMEMBERED, algorithm: 'fixed-window' },
        { name: 'gap', limit: LARGEST, window: REMEMBERED, algorithm: 'fixed-window' },
      ],
    })
  }

  of(key: string): Line {
    const limiter = this.#limiter
    return {
      take: () =>
        andThen(limiter.take(key, { line: 1, sent: 1, gap: 0 }), ({ allowed, retryAfterMs, verdicts }) => {
          if (!allowed) return { waitMs: Math.max(1, retryAfterMs), order: 0, gapUs: undefined }
          const [, sent, gap] = verdicts
          return { waitMs: 0, order: LARGEST - sent.remaining, gapUs: LARGEST - gap.remaining }
        }),
      occupy: (ms, moreUs) => {
        const line = Math.max(0, Math.round(ms) - 1)
        return line > 0 || moreUs !== 0 ? limiter.charge(key, { line, sent: 0, gap: moreUs }) : undefined
      },
      block: (ms) =>
        andThen(limiter.peek(key, { line: 1, sent: 1, gap: 0 }), ({ verdicts }) => {
          // several processes may block the line for the same reason
          const moreMs = Math.ceil(ms - verdicts[0].resetAfterMs)
          return moreMs > 0 ? limiter.charge(key, { line: moreMs, sent: 0, gap: 0 }) : undefined
        }),
    }
  }

  close(): MaybePromise<void> {
    return this.#limiter.close()
  }
}
