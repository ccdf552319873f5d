import type { Clock } from '../../contracts.ts'

export type BreakerState = 'closed' | 'open' | 'half-open'

/** Consecutive failures after which the breaker opens. */
const FAILURES = 10
/** Milliseconds after the first failure from which a second consecutive failure opens the breaker. */
const FAILING_MS = 250
/** Milliseconds between probes of an unavailable backend. */
const PROBE_EVERY_MS = 1_000

export interface BreakerOptions {
  readonly clock: Clock
  /** Longest duration of a successful probe, in milliseconds. */
  readonly deadlineMs: number
  readonly changed: (state: BreakerState) => void
}

/**
 * Stops calls to a failing backend and detects when it answers again. Closed: all calls are made. Open: only one
 * probe per second is made. A probe that is answered in time makes the breaker half-open: the next call is a trial,
 * which closes it or opens it again. The first trial may be late because connections are new, so a probe follows at once.
 */
export class Breaker {
  readonly #options: BreakerOptions
  #state: BreakerState = 'closed'
  #failures = 0
  #failingSince = 0
  #failedAt = Number.NEGATIVE_INFINITY
  #nextProbeAt = 0
  #trial = false
  #lateTrials = 0

  constructor(options: BreakerOptions) {
    this.#options = options
  }

  get state(): BreakerState {
    return this.#state
  }

  /** Whether to call the backend. An admitted caller must report the outcome: `succeeded`, `failed` or `abandoned`. */
  admits(): boolean {
    if (this.#state === 'closed') return true
    if (this.#state === 'open' || this.#trial) return false
    this.#trial = true
    return true
  }

  /** Reports that an admitted call was answered in time. */
  succeeded(): void {
    this.#failures = 0
    if (this.#state === 'half-open') this.#change('closed')
  }

  /**
   * Reports that a call made at `calledAt` failed or timed out. Calls that were pending when the last failure was
   * detected belong to the same failure, because many of them wait for one reply.
   */
  failed(calledAt: number = this.#options.clock.now(), isLate = false): void {
    const now = this.#options.clock.now()
    if (calledAt < this.#failedAt && this.#failures > 0) return
    this.#failedAt = now
    if (this.#failures++ === 0) this.#failingSince = now
    const enough = this.#failures >= FAILURES || (this.#failures > 1 && now - this.#failingSince >= FAILING_MS)
    const isTrial = this.#state === 'half-open'
    if (isTrial || (this.#state === 'closed' && enough)) this.#change('open')
    if (isTrial && isLate && this.#lateTrials++ === 0) this.probeSoon()
  }

  /** Reports that an admitted call no longer waits for a result. If it was the trial, the next call becomes it. */
  abandoned(): void {
    this.#trial = false
  }

  /** Whether the caller should send a probe now: at most one per second while open. */
  mayProbe(now: number = this.#options.clock.now()): boolean {
    if (this.#state !== 'open' || now < this.#nextProbeAt) return false
    this.#nextProbeAt = now + PROBE_EVERY_MS
    return true
  }

  /**
   * Reports that a probe was answered after `tookMs`. Within the deadline, the breaker becomes half-open. After more
   * than the time between probes, the next probe may be sent at once.
   */
  probed(tookMs: number, deadlineMs: number = this.#options.deadlineMs): void {
    if (this.#state !== 'open') return
    if (tookMs <= deadlineMs) this.#change('half-open')
    else if (tookMs >= PROBE_EVERY_MS) this.probeSoon()
  }

  /** Reports that the connection has recovered: the next probe may be sent at once. */
  probeSoon(): void {
    this.#nextProbeAt = this.#options.clock.now()
  }

  #change(state: BreakerState): void {
    if (state === 'closed') this.#lateTrials = 0
    this.#state = state
    this.#trial = false
    this.#failures = 0
    if (state === 'open') this.#nextProbeAt = this.#options.clock.now() + PROBE_EVERY_MS
    this.#options.changed(state)
  }
}
