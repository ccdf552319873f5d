import type { Clock } from '@sluice/limiter-core'

export interface HeartbeatOptions {
  readonly clock: Clock
  readonly leaseMs: number
  /** Renews all leases. Returns whether any lease is left to renew. */
  readonly beat: () => boolean
  /** Called if the process was suspended for so long that leases may have expired. */
  readonly slept: (now: number) => void
}

/** Calls `beat` three times per lease while there are leases to renew, and detects when the process was suspended. */
export class Heartbeat {
  readonly #options: HeartbeatOptions
  readonly #everyMs: number
  /** Last time at which this process was known to be running. */
  #awakeAt = 0
  #cancel: (() => void) | undefined

  constructor(options: HeartbeatOptions) {
    this.#options = options
    this.#everyMs = options.leaseMs / 3
  }

  /** Starts the heartbeat if it is not running. */
  start(): void {
    if (this.#cancel) return
    this.#awakeAt = this.#options.clock.now()
    this.#beatLater()
  }

  /**
   * Calls `slept` if a beat is overdue by a whole interval, because the process was suspended. Must be called before
   * leases are read.
   */
  checkSuspension(): void {
    const now = this.#options.clock.now()
    if (!this.#cancel || now - this.#awakeAt < 2 * this.#everyMs) return
    this.#awakeAt = now
    this.#options.slept(now)
  }

  close(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  #beatLater(): void {
    this.#cancel = this.#options.clock.after(this.#everyMs, () => {
      this.checkSuspension()
      this.#awakeAt = this.#options.clock.now()
      this.#cancel = undefined
      if (this.#options.beat()) this.#beatLater()
    })
  }
}
