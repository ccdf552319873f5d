import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { systemClock } from '@sluice/limiter-core/http'
import { RequestLife } from '../lifecycle/request-life.ts'
import { onCarrierClose } from '../lifecycle/response-end.ts'

/** The life of an upgrade: it ends when its socket closes, and is complete where it began and no error closed it. */
export class UpgradeLife extends RequestLife {
  readonly #socket: Duplex
  #startedAt: number | undefined
  #begun = false

  /** The one life of an upgrade; made when first asked for, and `req.sluice` from then on. */
  static of(req: IncomingMessage, socket: Duplex): UpgradeLife {
    const known = req.sluice as UpgradeLife | undefined
    // not by `instanceof`: two versions of a package may meet in one process
    if (typeof known?.settleAtEnd === 'function') return known
    const made = new UpgradeLife(socket)
    req.sluice = made
    return made
  }

  private constructor(socket: Duplex) {
    super()
    this.#socket = socket
  }

  /** It passed: from now on the socket is the listener's. */
  begin(): void {
    this.#begun = true
  }

  override get gone(): boolean {
    return this.ended || this.#socket.destroyed || this.#socket.closed
  }

  protected override listen(): void {
    if (this.#startedAt !== undefined) return
    this.#startedAt = systemClock.now()
    const end = (): void => this.#end()
    const over = this.gone
    onCarrierClose(this.#socket, end)
    // a client who left before has no signal left to send; the caller's own turn comes first
    if (over) Promise.resolve().then(end)
  }

  #end(): void {
    const durationMs = systemClock.now() - (this.#startedAt ?? 0)
    this.endAs({ completed: this.#begun && !this.#socket.errored, durationMs })
  }
}
