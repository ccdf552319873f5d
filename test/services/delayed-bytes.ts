import type { Socket } from 'node:net'
import { systemClock } from '@sluice/limiter-core/backend'

/** After which a sender of TCP tries again, at the least. */
const RESENT_AFTER_MS = 200

/** What a path between two machines does to what is sent over it. */
export interface PathFaults {
  /** How much later each way delivers, half of what a round trip grows by. */
  readonly delayMs: number
  /** The share, 0 to 1, of what is sent that is lost at first: it comes, with all behind it, after the usual 200 ms. */
  readonly lossShare: number
}

/** One way of a connection: what comes at `from` goes out at `to`, in its order, as late as the path is bad. */
export class DelayedBytes {
  isSwallowing = false
  readonly #faults: () => PathFaults
  readonly #random: () => number
  readonly #underWay: (() => void)[] = []
  /** When the last bytes arrive: what is sent after them cannot come before. */
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
