import type { Clock } from '@sluice/limiter-core'

export interface HeartbeatOptions {
  readonly clock: Clock
  readonly leaseMs: number
  /** Renews leases. Returns whether there is still something to renew. */
  readonly beat: () => boolean
  /** The process was suspended for so long that leases may have expired unnoticed. */
  readonly slept: (now: number) => void
}

/** Beats three times per lease while there is something to renew, and detects that the process was suspended. */
export class Heartbeat {
  readonly #options: HeartbeatOptions
  readonly #everyMs: number
  /** When this process was last seen to be running. */
  #awakeAt = 0
  #cancel: (() => void) | undefined

  constructor(options: HeartbeatOptions) {
    this.#options = options
    this.#everyMs = options.leaseMs / 3
  }

  /** There is something to renew. */
  start(): void {
    if (this.#cancel) return
    this.#awakeAt = this.#options.clock.now()
    this.#beatLater()
  }

  /** Must be called before leases are read. A missed beat means that the process was suspended. */
  awake(): void {
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
      this.awake()
      this.#awakeAt = this.#options.clock.now()
      this.#cancel = undefined
      if (this.#options.beat()) this.#beatLater()
    })
  }
}
