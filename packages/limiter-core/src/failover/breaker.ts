import type { Clock } from '../contracts.ts'

export type BreakerState = 'closed' | 'open' | 'half-open'

/** Failures in a row after which a backend is not called any more. */
const FAILURES = 10
/** Milliseconds after which two failures in a row are enough. */
const FAILING_MS = 250
/** Milliseconds between probes: a dead backend hears from a process once in so many. */
const PROBE_EVERY_MS = 1_000

export interface BreakerOptions {
  readonly clock: Clock
  /** Milliseconds within which an answer is one. */
  readonly deadlineMs: number
  readonly changed: (state: BreakerState) => void
}

/**
 * Stops calls to a backend that fails, and finds out when it answers again. Closed: everybody calls. Open: nobody
 * does, but for one probe a second. A probe that is answered in time makes it half-open: the next call is a trial,
 * which closes it or opens it again.
 */
export class Breaker {
  readonly #options: BreakerOptions
  #state: BreakerState = 'closed'
  #failures = 0
  #failingSince = 0
  #failedAt = Number.NEGATIVE_INFINITY
  #nextProbeAt = 0
  #trial = false

  constructor(options: BreakerOptions) {
    this.#options = options
  }

  get state(): BreakerState {
    return this.#state
  }

  /** Whether to call the backend. Whoever is let through says how it went: `succeeded`, `failed` or `abandoned`. */
  admits(): boolean {
    if (this.#state === 'closed') return true
    if (this.#state === 'open' || this.#trial) return false
    this.#trial = true
    return true
  }

  /** A call that was let through was answered in time. */
  succeeded(): void {
    this.#failures = 0
    if (this.#state === 'half-open') this.#change('closed')
  }

  /**
   * A call that was let through at `calledAt` failed, or was not answered in time. Whatever was under way when the last
   * failure came to light is the same failure: many wait for one answer.
   */
  failed(calledAt: number = this.#options.clock.now()): void {
    const now = this.#options.clock.now()
    if (calledAt < this.#failedAt && this.#failures > 0) return
    this.#failedAt = now
    if (this.#failures++ === 0) this.#failingSince = now
    const enough = this.#failures >= FAILURES || (this.#failures > 1 && now - this.#failingSince >= FAILING_MS)
    if (this.#state === 'half-open' || (this.#state === 'closed' && enough)) this.#change('open')
  }

  /** A call that was let through is waited for no more, and says nothing: where it was the trial, the next one is. */
  abandoned(): void {
    this.#trial = false
  }

  /** True for whoever shall probe now: at most once a second, while open. */
  mayProbe(now: number = this.#options.clock.now()): boolean {
    if (this.#state !== 'open' || now < this.#nextProbeAt) return false
    this.#nextProbeAt = now + PROBE_EVERY_MS
    return true
  }

  /** A probe was answered after `tookMs`. One that waited out a stall says only that it is worth to ask again. */
  probed(tookMs: number, deadlineMs: number = this.#options.deadlineMs): void {
    if (this.#state !== 'open') return
    if (tookMs <= deadlineMs) this.#change('half-open')
    else if (tookMs >= PROBE_EVERY_MS) this.probeSoon()
  }

  /** The way to the backend is back: the next call may probe at once. */
  probeSoon(): void {
    this.#nextProbeAt = this.#options.clock.now()
  }

  #change(state: BreakerState): void {
    this.#state = state
    this.#trial = false
    this.#failures = 0
    if (state === 'open') this.#nextProbeAt = this.#options.clock.now() + PROBE_EVERY_MS
    this.#options.changed(state)
  }
}
