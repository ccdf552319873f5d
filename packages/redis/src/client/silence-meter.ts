import { systemClock } from '@sluice/limiter-core/backend'

/**
 * Measures how long a server has sent nothing while a reply was pending. It is read at a fixed interval, and a pause of
 * the process between two readings counts as one interval at most: the replies may have arrived meanwhile.
 */
export class SilenceMeter {
  readonly #everyMs: number
  #readAt: number
  #progress = 0
  #awaited = false
  #silentMs = 0

  constructor(everyMs: number) {
    this.#everyMs = everyMs
    this.#readAt = systemClock.now()
  }

  /**
   * Returns the milliseconds of silence. `awaited`: whether a reply is pending. `progress`: a number that changes with
   * each reply of the server.
   */
  read(awaited: boolean, progress: number): number {
    const now = systemClock.now()
    const silent = awaited && this.#awaited && progress === this.#progress
    this.#silentMs = silent ? this.#silentMs + Math.min(now - this.#readAt, this.#everyMs) : 0
    this.#readAt = now
    this.#progress = progress
    this.#awaited = awaited
    return this.#silentMs
  }
}
