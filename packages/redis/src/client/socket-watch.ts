import { afterThisTurn, systemClock } from '@sluice/limiter-core/backend'
import type { Redis } from 'ioredis'

/** So often a socket is looked at within the time for which it may be silent. */
const LOOKS = 8

/**
 * Destroys a socket on which nothing came for `silentMs` while a reply was awaited: nothing else finds out that a path
 * swallows packets. `socketTimeout` of ioredis does the same by the clock alone, so that a process which stood still
 * destroys a healthy connection before it reads what lies there. Here only time in which the process ran counts.
 */
export function watchSockets(client: Redis, silentMs: number): void {
  client.on('connect', () => new SocketWatch(client, silentMs))
}

class SocketWatch {
  readonly #client: Redis
  readonly #stream: Redis['stream']
  readonly #mostMs: number
  readonly #everyMs: number
  #lookedAt: number
  #bytes = 0
  #awaited = false
  #silentMs = 0

  constructor(client: Redis, mostMs: number) {
    this.#client = client
    this.#stream = client.stream
    this.#mostMs = mostMs
    this.#everyMs = mostMs / LOOKS
    this.#lookedAt = systemClock.now()
    this.#lookLater()
  }

  #lookLater(): void {
    // timers run before what was received is read
    systemClock.after(this.#everyMs, () => afterThisTurn(() => this.#look()))
  }

  #look(): void {
    const { destroyed, bytesRead } = this.#stream
    if (destroyed || this.#client.stream !== this.#stream) return
    const now = systemClock.now()
    const awaited = this.#client.commandQueue.length > 0
    const silent = awaited && this.#awaited && bytesRead === this.#bytes
    // of a pause no more counts than the time between two looks
    this.#silentMs = silent ? this.#silentMs + Math.min(now - this.#lookedAt, this.#everyMs) : 0
    this.#lookedAt = now
    this.#bytes = bytesRead
    this.#awaited = awaited
    if (this.#silentMs < this.#mostMs) this.#lookLater()
    else this.#stream.destroy(new Error(`Socket timeout: a reply was awaited, and nothing came for ${this.#mostMs} ms`))
  }
}
