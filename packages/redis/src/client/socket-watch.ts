import { afterThisTurn, systemClock } from '@sluice/limiter-core/backend'
import type { Redis } from 'ioredis'
import { SilenceMeter } from './silence-meter.ts'

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
  readonly #silence: SilenceMeter

  constructor(client: Redis, timeoutMs: number) {
    this.#client = client
    this.#stream = client.stream
    this.#timeoutMs = timeoutMs
    this.#silence = new SilenceMeter(timeoutMs / CHECKS)
    this.#checkLater()
  }

  #checkLater(): void {
    // Node runs timers before it reads received data, so the check must wait for the end of the turn
    systemClock.after(this.#timeoutMs / CHECKS, () => afterThisTurn(() => this.#check()))
  }

  #check(): void {
    const { destroyed, bytesRead } = this.#stream
    if (destroyed || this.#client.stream !== this.#stream) return
    const silentMs = this.#silence.read(this.#client.commandQueue.length > 0, bytesRead)
    if (silentMs < this.#timeoutMs) this.#checkLater()
    else
      this.#stream.destroy(
        new Error(`Socket timeout: no data from Redis for ${this.#timeoutMs} ms while a reply was pending`),
      )
  }
}
