import { FULL } from '@sluice/limiter-core/backend'
import { failureOfText, type RedisFailure } from '../client/redis-failure.ts'
import type { KeyPermits, KeyRequest } from './key-permits.ts'
import type { PendingAcquire } from './pending-acquire.ts'

/** The server's reply about one key. */
export interface HoldReply {
  /** The error of this key, and then nothing else. */
  readonly failure?: string | undefined
  /** How many of the held places the server keeps. */
  readonly kept: number
  /** Places of all processes. */
  readonly total: number
  /** How many of each group of equal wishes were granted. */
  readonly granted: readonly number[]
}

/** Wishes in a row that take equally many places. */
interface Run {
  readonly weight: number
  readonly wishes: PendingAcquire[]
}

/** The content of one call about one key, and the callers that wait for its reply. */
export class HoldRequest {
  readonly holding: KeyPermits
  readonly #request: KeyRequest
  readonly #runs: readonly Run[]

  constructor(holding: KeyPermits, request: KeyRequest) {
    this.holding = holding
    this.#request = request
    this.#runs = runsOf(request.wishes)
  }

  /** Arguments as `inflight-hold` reads them. */
  get args(): readonly number[] {
    const { held, lapsed } = this.#request
    const runs = this.#runs.flatMap(({ weight, wishes }) => [weight, wishes.length])
    const patienceMs = Math.floor(this.holding.patienceMs) || 0
    return [held, lapsed ? 1 : 0, this.holding.cap.limit, patienceMs, this.#runs.length, ...runs]
  }

  /** Number of reply elements about this key. */
  get replies(): number {
    return 2 + this.#runs.length
  }

  /** Applies the server's reply. Places whose caller has gone are released with the next call. */
  answered({ kept, total, granted }: HoldReply, sentAt: number): void {
    const { holding } = this
    const taken = this.#runs.reduce((sum, { weight }, index) => sum + weight * granted[index], 0)
    holding.acknowledged(kept + taken, sentAt)
    if (kept < this.#request.held) holding.loseDownTo(kept)
    this.#runs.forEach(({ weight, wishes }, index) => {
      wishes.forEach((wish, place) => {
        const mine = place < granted[index] && !wish.gone
        wish.answer(() => (mine ? holding.grant(weight) : FULL))
      })
    })
    for (const count of this.#request.counts) count.answer(() => total)
  }

  /** Moves the remaining callers to the next call. */
  retry(): void {
    const { wishes, counts } = this.#request
    this.holding.await(wishes, counts)
  }

  /** Answers waiting callers by the places of this process alone. */
  failed(): void {
    const { wishes, counts } = this.#request
    this.holding.answerHere(wishes, counts)
  }
}

function runsOf(wishes: readonly PendingAcquire[]): Run[] {
  const runs: Run[] = []
  for (const wish of wishes) {
    const last = runs.at(-1)
    if (last?.weight === wish.weight) last.wishes.push(wish)
    else runs.push({ weight: wish.weight, wishes: [wish] })
  }
  return runs
}

/** Returns the most serious failure of the replies; undefined if every key was answered. */
export function worstOf(replies: readonly HoldReply[]): RedisFailure | undefined {
  const failures = replies.flatMap(({ failure }) => (failure === undefined ? [] : [failureOfText(failure)]))
  return failures.find(({ keyOnly }) => !keyOnly) ?? failures[0]
}
