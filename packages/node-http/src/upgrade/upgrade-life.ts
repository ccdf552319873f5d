import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { onCarrierClose, RequestLife } from '@sluice/http'
import { systemClock } from '@sluice/limiter-core/http'

/**
 * Lifecycle of an upgrade. It ends when the socket closes, and is `completed` if the upgrade was allowed and the socket
 * closed without an error.
 */
export class UpgradeLife extends RequestLife {
  readonly #socket: Duplex
  #startedAt: number | undefined
  #begun = false

  /** Returns the lifecycle of an upgrade. The first call creates it and assigns it to `req.sluice`. */
  static of(req: IncomingMessage, socket: Duplex): UpgradeLife {
    const known = req.sluice as UpgradeLife | undefined
    // not `instanceof`: two versions of this package may be loaded in one process
    if (typeof known?.settleAtEnd === 'function') return known
    const made = new UpgradeLife(socket)
    req.sluice = made
    return made
  }

  private constructor(socket: Duplex) {
    super()
    this.#socket = socket
  }

  /** Marks the upgrade as allowed. From now on the socket belongs to the listener. */
  begin(): void {
    this.#begun = true
  }

  override get gone(): boolean {
    return this.ended || this.#socket.destroyed || this.#socket.closed
  }

  protected override listen(): boolean {
    if (this.#startedAt !== undefined) return !this.gone
    this.#startedAt = systemClock.now()
    const end = (): void => this.#end()
    const over = this.gone
    onCarrierClose(this.#socket, end)
    // a client that has already left causes no further event; the microtask lets the caller finish first
    if (over) Promise.resolve().then(end)
    return !over
  }

  #end(): void {
    const durationMs = systemClock.now() - (this.#startedAt ?? 0)
    this.endAs({ completed: this.#begun && !this.#socket.errored, durationMs })
  }
}
