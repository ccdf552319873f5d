import { FULL } from '@sluice/limiter-core/backend'
import { failureOfText, type RedisFailure } from '../client/redis-failure.ts'
import type { HoldReply, HoldRequest } from './hold-script.ts'
import type { KeyPermits, KeyRequest } from './key-permits.ts'
import type { PendingAcquire } from './pending-acquire.ts'

/** Consecutive acquires of the same weight. */
interface Run {
  readonly weight: number
  readonly acquires: PendingAcquire[]
}

/** Part of a call that concerns one key, and the callers that wait for the reply. */
export class KeyReport implements HoldRequest {
  readonly holding: KeyPermits
  readonly #request: KeyRequest
  readonly #runs: readonly Run[]

  constructor(holding: KeyPermits, request: KeyRequest) {
    this.holding = holding
    this.#request = request
    this.#runs = runsOf(request.acquires)
  }

  get name(): string {
    return this.holding.name
  }

  get args(): readonly number[] {
    const { held, lapsed } = this.#request
    const runs = this.#runs.flatMap(({ weight, acquires }) => [weight, acquires.length])
    const patienceMs = Math.floor(this.holding.patienceMs) || 0
    return [held, lapsed ? 1 : 0, this.holding.cap.limit, patienceMs, this.#runs.length, ...runs]
  }

  get replies(): number {
    return 2 + this.#runs.length
  }

  /** Applies the reply. Places that were granted to callers that no longer wait are released by the next report. */
  answered({ kept, total, granted }: HoldReply, sentAt: number): void {
    const { holding } = this
    const taken = this.#runs.reduce((sum, { weight }, index) => sum + weight * granted[index], 0)
    holding.acknowledged(kept + taken, sentAt)
    if (kept < this.#request.held) holding.loseDownTo(kept)
    this.#runs.forEach(({ weight, acquires }, index) => {
      acquires.forEach((acquire, place) => {
        const mine = place < granted[index] && !acquire.gone
        acquire.answer(() => (mine ? holding.grant(weight) : FULL))
      })
    })
    for (const count of this.#request.counts) count.answer(() => total)
  }

  /** Moves the callers that still wait to the next call. */
  retry(): void {
    const { acquires, counts } = this.#request
    this.holding.requeue(acquires, counts)
  }

  /** Decides for the waiting callers in this process alone. */
  failed(): void {
    const { acquires, counts } = this.#request
    this.holding.answerHere(acquires, counts)
  }
}

function runsOf(acquires: readonly PendingAcquire[]): Run[] {
  const runs: Run[] = []
  for (const acquire of acquires) {
    const last = runs.at(-1)
    if (last?.weight === acquire.weight) last.acquires.push(acquire)
    else runs.push({ weight: acquire.weight, acquires: [acquire] })
  }
  return runs
}

/** Returns the most serious failure in the replies, the first that is not `keyOnly`; undefined if no key failed. */
export function worstFailure(replies: readonly HoldReply[]): RedisFailure | undefined {
  const failures = replies.flatMap(({ failure }) => (failure === undefined ? [] : [failureOfText(failure)]))
  return failures.find(({ keyOnly }) => !keyOnly) ?? failures[0]
}
