import { afterThisTurn } from '@sluice/limiter-core'
import type { ScriptRequest } from './script-request.ts'

/**
 * Gathers asks for one script call. With nothing under way an ask goes out at once; else it waits until everything that
 * this turn of the event loop brought has been handled, and goes with what came meanwhile.
 */
export class ScriptQueue {
  readonly #send: (asks: readonly ScriptRequest[]) => Promise<() => void>
  readonly #maxKeys: number
  readonly #idle: () => void
  #waiting: ScriptRequest[] = []
  #underWay = 0

  /** `send` never rejects, and answers how to settle the asks. A call has at most `maxKeys` keys, or one ask. `idle` hears that nothing is left to do. */
  constructor(maxKeys: number, send: (asks: readonly ScriptRequest[]) => Promise<() => void>, idle: () => void) {
    this.#maxKeys = maxKeys
    this.#send = send
    this.#idle = idle
  }

  add(ask: ScriptRequest): void {
    if (this.isIdle) this.#call([ask])
    else if (this.#waiting.push(ask) === 1) afterThisTurn(this.#flush)
  }

  get isIdle(): boolean {
    return this.#underWay === 0 && this.#waiting.length === 0
  }

  /** A call is made beside the queue, until it is `ended`. */
  began(): void {
    this.#underWay++
  }

  readonly ended = (): void => {
    this.#underWay--
    if (this.isIdle) this.#idle()
  }

  readonly #flush = (): void => {
    const asks = this.#waiting
    this.#waiting = []
    let from = 0
    let keys = 0
    for (const [at, ask] of asks.entries()) {
      // an urgent ask never waits for another one, nor ends it
      const apart = at > from && isUrgent(ask) !== isUrgent(asks[from])
      if (at > from && (apart || keys + ask.names.length > this.#maxKeys)) {
        this.#call(asks.slice(from, at))
        from = at
        keys = 0
      }
      keys += ask.names.length
    }
    this.#call(asks.slice(from))
  }

  #call(asks: readonly ScriptRequest[]): void {
    this.began()
    this.#send(asks).then((settle) => {
      // whoever asks on after many were answered at once is not alone, and is worth to wait for
      if (asks.length > 1) afterThisTurn(this.ended)
      else this.ended()
      settle()
    })
  }
}

/** Whether somebody waits for it, and no longer than until its deadline. That of an adjustment is far away. */
function isUrgent({ operation, deadlineAt }: ScriptRequest): boolean {
  return deadlineAt !== undefined && operation !== 'adjust'
}
