import { afterThisTurn, systemClock } from '@sluice/limiter-core/backend'
import type { Redis } from 'ioredis'

/** Number of checks of a socket during its allowed silence. */
const LOOKS = 8

/**
 * Destroys a socket that receives nothing for `silentMs` while a reply is expected: nothing else detects a path that
 * drops packets. `socketTimeout` of ioredis uses the clock alone, so that a suspended process destroys a healthy
 * connection before it reads the replies that have arrived. Here only time in which the process ran counts.
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
    // timers run before received data is read
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
