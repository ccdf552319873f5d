import { afterThisTurn, systemClock } from '@sluice/limiter-core/backend'
import { brokenFailure, failureOf, type RedisFailure } from '../client/redis-failure.ts'
import { SilenceMeter } from '../client/silence-meter.ts'

/** Number of checks within the time after which a server counts as silent. */
const CHECKS = 4

type Reject = (failure: RedisFailure) => void

/** The calls to one server that have no reply yet. */
export class PendingCalls {
  readonly #silentMs: number
  readonly #rejects = new Set<Reject>()
  #silence: SilenceMeter | undefined
  #replies = 0
  #isSilent = false

  /** The server counts as silent after `silentMs` milliseconds in which it answered none of the pending calls. */
  constructor(silentMs: number) {
    this.#silentMs = silentMs
  }

  /** Whether the server has been silent for so long that nothing more should be sent to it. */
  get isSilent(): boolean {
    return this.#isSilent
  }

  /** Returns the reply of a call that was sent, or rejects with its failure, or when its connection breaks. */
  add<Reply>(sent: Promise<Reply>): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#rejects.add(reject)
      if (this.#silence === undefined && this.#silentMs < Number.POSITIVE_INFINITY) this.#watch()
      sent.then(
        (reply) => {
          this.#settled(reject)
          resolve(reply)
        },
        (error) => {
          this.#settled(reject)
          reject(failureOf(error))
        },
      )
    })
  }

  /** Rejects all calls, because their connection broke. */
  break(): void {
    for (const reject of this.#rejects) reject(brokenFailure())
    this.#rejects.clear()
    this.#replies++
    this.#isSilent = false
  }

  #settled(reject: Reject): void {
    this.#rejects.delete(reject)
    this.#replies++
    this.#isSilent = false
  }

  #watch(): void {
    this.#silence = new SilenceMeter(this.#silentMs / CHECKS)
    this.#silence.read(true, this.#replies)
    this.#checkLater()
  }

  #checkLater(): void {
    // Node runs timers before it reads received data, so the check must wait for the end of the turn
    systemClock.after(this.#silentMs / CHECKS, () => afterThisTurn(() => this.#check()))
  }

  #check(): void {
    const isPending = this.#rejects.size > 0
    const silentMs = this.#silence?.read(isPending, this.#replies) ?? 0
    this.#isSilent = silentMs >= this.#silentMs
    if (isPending) this.#checkLater()
    else this.#silence = undefined
  }
}
