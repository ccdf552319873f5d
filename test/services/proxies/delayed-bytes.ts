import type { Socket } from 'node:net'
import { systemClock } from '@sluice/limiter-core/backend'

/** Minimum time after which a TCP sender retransmits. */
const RESENT_AFTER_MS = 200

/** Faults of a network path between two machines. */
export interface PathFaults {
  /** Added latency of each direction, half of the added round-trip time. */
  readonly delayMs: number
  /**
   * Fraction of the sent data, from 0 to 1, that is lost at first. It arrives with everything behind it after the usual
   * 200 ms.
   */
  readonly lossShare: number
}

/** One direction of a connection: data from `from` is written to `to` in order, with the delay of the path. */
export class DelayedBytes {
  isSwallowing = false
  readonly #faults: () => PathFaults
  readonly #random: () => number
  readonly #underWay: (() => void)[] = []
  /** When the last bytes arrive. Bytes sent later cannot arrive earlier. */
  #lastAt = 0

  constructor(from: Socket, to: Socket, faults: () => PathFaults, random: () => number) {
    this.#faults = faults
    this.#random = random
    from.on('data', (bytes: Buffer) => this.#send(() => to.write(bytes)))
    from.once('end', () => this.#send(() => to.end()))
  }

  swallow(): void {
    this.isSwallowing = true
  }

  #send(deliver: () => void): void {
    const { delayMs, lossShare } = this.#faults()
    const lost = lossShare > 0 && this.#random() < lossShare
    const now = systemClock.now()
    this.#lastAt = Math.max(this.#lastAt, now + delayMs + (lost ? RESENT_AFTER_MS : 0))
    const isFirst = this.#underWay.push(deliver) === 1
    if (isFirst && this.#lastAt <= now) this.#arrive()
    else systemClock.after(this.#lastAt - now, () => this.#arrive())
  }

  #arrive(): void {
    const deliver = this.#underWay.shift()
    if (!this.isSwallowing) deliver?.()
  }
}
