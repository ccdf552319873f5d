import { isUrgent, TurnBatch } from '@sluice/fleet/backend'
import type { LimitRequest } from './limit-request.ts'

export interface DecisionQueueOptions {
  /** Maximum number of charges per statement, unless a single request has more. */
  readonly maxBatch: number
  /** Maximum number of statements under way. */
  readonly maxStatements: number
  /** Must never reject. */
  readonly send: (requests: readonly LimitRequest[]) => Promise<void>
}

/**
 * Combines the requests of one turn of the event loop into one statement. While `maxStatements` are under way, requests
 * wait and share the next statement.
 */
export class DecisionQueue {
  readonly #options: DecisionQueueOptions
  readonly #batch: TurnBatch<LimitRequest> = new TurnBatch(() => this.#sendAll())
  #waiting: LimitRequest[] = []
  #underWay = 0

  constructor(options: DecisionQueueOptions) {
    this.#options = options
  }

  add(request: LimitRequest): void {
    this.#batch.add(request)
  }

  #sendAll(): void {
    // a spread would fail if a turn has too many requests
    for (const request of this.#batch.take()) this.#waiting.push(request)
    while (this.#waiting.length > 0 && this.#underWay < this.#options.maxStatements) {
      this.#underWay++
      void this.#options.send(this.#nextRequests()).then(this.#ended)
    }
  }

  readonly #ended = (): void => {
    this.#underWay--
    // callers that were answered together tend to send their next requests together
    if (this.#waiting.length > 0) this.#batch.schedule()
  }

  #nextRequests(): readonly LimitRequest[] {
    const [first] = this.#waiting
    let charges = 0
    const end = this.#waiting.findIndex((request, index) => {
      charges += request.charges.length
      // requests with a short deadline share no statement with others: one would expire with the other
      return isUrgent(request) !== isUrgent(first) || (index > 0 && charges > this.#options.maxBatch)
    })
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end)
  }
}
