import { afterThisTurn, systemClock } from '@sluice/limiter-core/backend'
import type { Redis } from 'ioredis'

/** Number of checks within the timeout of a socket. */
const CHECKS = 8

/**
 * Destroys the socket of a client if no data arrives for `silentMs` while a reply is pending. Nothing else detects a
 * network path that drops packets. The `socketTimeout` of ioredis compares clock readings only, so a process whose
 * event loop was blocked destroys a healthy connection before it reads the replies that have already arrived. Here such
 * a pause does not count.
 */
export function watchSockets(client: Redis, silentMs: number): void {
  client.on('connect', () => new SocketWatch(client, silentMs))
}

class SocketWatch {
  readonly #client: Redis
  readonly #stream: Redis['stream']
  readonly #timeoutMs: number
  readonly #everyMs: number
  #checkedAt: number
  #bytes = 0
  #awaited = false
  #silentMs = 0

  constructor(client: Redis, timeoutMs: number) {
    this.#client = client
    this.#stream = client.stream
    this.#timeoutMs = timeoutMs
    this.#everyMs = timeoutMs / CHECKS
    this.#checkedAt = systemClock.now()
    this.#checkLater()
  }

  #checkLater(): void {
    // Node runs timers before it reads received data, so the check must wait for the end of the turn
    systemClock.after(this.#everyMs, () => afterThisTurn(() => this.#check()))
  }

  #check(): void {
    const { destroyed, bytesRead } = this.#stream
    if (destroyed || this.#client.stream !== this.#stream) return
    const now = systemClock.now()
    const awaited = this.#client.commandQueue.length > 0
    const silent = awaited && this.#awaited && bytesRead === this.#bytes
    // a pause of the process counts as one interval between two checks at most
    this.#silentMs = silent ? this.#silentMs + Math.min(now - this.#checkedAt, this.#everyMs) : 0
    this.#checkedAt = now
    this.#bytes = bytesRead
    this.#awaited = awaited
    if (this.#silentMs < this.#timeoutMs) this.#checkLater()
    else
      this.#stream.destroy(
        new Error(`Socket timeout: no data from Redis for ${this.#timeoutMs} ms while a reply was pending`),
      )
  }
}
