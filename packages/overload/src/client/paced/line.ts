import { type Backend, type Clock, createLimiter, type Limiter, type MaybePromise } from '@sluice/limiter-core'
import { andThen } from '@sluice/limiter-core/backend'

/** A place in the line. */
export interface Place {
  /** Milliseconds until the next request may be sent; 0 if this one may be sent. */
  readonly waitMs: number
  /** Number of requests that were sent before, without those that were refused. */
  readonly order: number
  /** The gap that the processes of a fleet have found, in microseconds; 0 if none has found one. */
  readonly gapUs: number | undefined
}

/** The order in which all callers of one upstream send: one after another, at distances that they choose. */
export interface Line {
  /** Takes the next place if it is free. */
  take(): MaybePromise<Place>
  /** Whether other processes have the same line. */
  readonly isShared: boolean
  /** Number of requests that may be in flight while nothing is known. */
  readonly mostFirst: number
  /** Least distance of two requests while it is not known whether the upstream accepts any, in ms. */
  readonly tryGapMs: number
  /**
   * Keeps the place after the request that was sent last free for `ms` milliseconds, and adds `moreUs` to the gap of the
   * fleet.
   */
  occupy(ms: number, moreUs: number): MaybePromise<unknown>
  /** Takes back the number of a request that was refused, so that places number those that were accepted. */
  uncount(): MaybePromise<unknown>
  /** Adds `moreUs` to the gap of the fleet. */
  publish(moreUs: number): MaybePromise<unknown>
  /** Sends nothing for `ms` milliseconds from now. */
  block(ms: number): MaybePromise<unknown>
}

/** How late a request may be so that the next one follows at its own time. */
const LATE_MS = 20

/** Limit and window of the numbers of a fleet. */
const [LARGEST, REMEMBERED] = [1e12, '30d'] as const
/** Units of a place. It is occupied for so many milliseconds until the gap after it is known. */
const PLACE = { line: 20, sent: 1, gap: 0 } as const

/** The line of one process. */
export class LocalLine implements Line {
  readonly isShared = false
  readonly mostFirst = 3
  readonly tryGapMs = 0
  readonly #clock: Clock
  #nextAtMs = Number.NEGATIVE_INFINITY
  #order = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  take(): Place {
    const waitMs = this.#nextAtMs - this.#clock.now()
    // times are sums of fractions
    return waitMs > 1e-3
      ? { waitMs, order: 0, gapUs: undefined }
      : { waitMs: 0, order: this.#order++, gapUs: undefined }
  }

  occupy(ms: number): void {
    this.#nextAtMs = Math.max(this.#nextAtMs, this.#clock.now() - Math.min(ms, LATE_MS)) + ms
  }

  uncount(): void {
    this.#order--
  }

  publish(): void {}

  block(ms: number): void {
    this.#nextAtMs = Math.max(this.#nextAtMs, this.#clock.now() + ms)
  }
}

/** The lines of a fleet: one unit of a limit is a millisecond in which no other process sends. */
export class FleetLines {
  readonly #limiter: Limiter
  readonly #clock: Clock

  constructor(backend: Backend, clock: Clock) {
    this.#clock = clock
    this.#limiter = createLimiter({
      backend,
      clock,
      scope: 'paced-fetch',
      shared: true,
      policies: [
        { name: 'line', limit: 1_000, window: '1s', algorithm: 'gcra', burst: PLACE.line },
        // their units are numbers that all processes read: that of the requests, and the gap in microseconds
        { name: 'sent', limit: LARGEST, window: REMEMBERED, algorithm: 'fixed-window' },
        { name: 'gap', limit: LARGEST, window: REMEMBERED, algorithm: 'fixed-window' },
      ],
    })
  }

  of(key: string): Line {
    return new FleetLine(this.#limiter, this.#clock, key)
  }

  close(): MaybePromise<void> {
    return this.#limiter.close()
  }
}

class FleetLine implements Line {
  readonly isShared = true
  readonly mostFirst = 1
  readonly tryGapMs = 500
  readonly #limiter: Limiter
  readonly #clock: Clock
  readonly #key: string
  /** When the place was to be free that is taken next. */
  #dueMs = Number.POSITIVE_INFINITY
  #lateMs = 0

  constructor(limiter: Limiter, clock: Clock, key: string) {
    this.#limiter = limiter
    this.#clock = clock
    this.#key = key
  }

  take(): MaybePromise<Place> {
    return andThen(this.#limiter.take(this.#key, PLACE), ({ allowed, retryAfterMs, verdicts }) => {
      const now = this.#clock.now()
      if (!allowed) {
        this.#dueMs = Math.min(this.#dueMs, now + retryAfterMs)
        return { waitMs: Math.max(1, retryAfterMs), order: 0, gapUs: undefined }
      }
      this.#lateMs = Math.min(LATE_MS, Math.max(0, now - this.#dueMs))
      this.#dueMs = Number.POSITIVE_INFINITY
      const [, sent, gap] = verdicts
      return { waitMs: 0, order: LARGEST - sent.remaining, gapUs: LARGEST - gap.remaining }
    })
  }

  occupy(ms: number, moreUs: number): MaybePromise<unknown> {
    if (ms > 0) this.#dueMs = this.#clock.now() + ms
    return this.#charge(Math.round(Math.max(0, ms - this.#lateMs)) - PLACE.line, 0, moreUs)
  }

  uncount(): MaybePromise<unknown> {
    return this.#charge(0, -1, 0)
  }

  publish(moreUs: number): MaybePromise<unknown> {
    return this.#charge(0, 0, moreUs)
  }

  block(ms: number): MaybePromise<unknown> {
    if (ms <= 0) return undefined
    return andThen(this.#limiter.peek(this.#key, PLACE), ({ verdicts }) =>
      // several processes may block the line for the same reason
      this.#charge(Math.max(0, Math.ceil(ms - verdicts[0].resetAfterMs)), 0, 0),
    )
  }

  #charge(line: number, sent: number, gap: number): MaybePromise<unknown> {
    const isNothing = line === 0 && sent === 0 && gap === 0
    return isNothing ? undefined : this.#limiter.charge(this.#key, { line, sent, gap })
  }
}
