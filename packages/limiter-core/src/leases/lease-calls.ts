import { lateLedger, MalformedAnswer } from '../backend/backend-failure.ts'
import { isPromise } from '../contracts/maybe-promise.ts'
import type { Clock } from '../contracts.ts'
import { afterThisTurn } from '../time/clock.ts'
import { TurnBatch } from '../time/turn-batch.ts'
import type { LeaseAsk, LeaseGrant, LeaseLedger } from './lease-ledger.ts'

/** A request to the ledger. Its content is computed when it is sent. */
export interface LeaseCall {
  /** Process time after which the caller no longer waits. */
  readonly deadlineAt: number
  compose(): LeaseAsk
  granted(ask: LeaseAsk, grant: LeaseGrant, sentAt: number): void
  failed(error: unknown): void
}

/** Most requests in one call to the ledger. */
const BATCH = 256

/**
 * A request without a reply counts as lost this long after its deadline, late enough that a pause of this process is
 * not mistaken for a loss.
 */
const LOST_AFTER_MS = 5_000

/** Requests that were sent and not answered yet. */
interface Sent {
  readonly deadlineAt: number
  /** Ignores the reply if it still arrives. */
  giveUp(): void
}

/** Collects requests, so that one turn of the event loop makes one call. */
export class LeaseCalls {
  readonly #ledger: LeaseLedger
  readonly #clock: Clock
  readonly #waiting = new TurnBatch<LeaseCall>((waiting) => this.#sendAll(waiting.take()))
  readonly #sent = new Set<Sent>()
  #idle: (() => void)[] = []
  #isClosed = false

  constructor(ledger: LeaseLedger, clock: Clock) {
    this.#ledger = ledger
    this.#clock = clock
  }

  /** If nothing is pending, the call is made in a microtask, otherwise at the end of the turn. */
  add(call: LeaseCall): void {
    if (this.#isClosed) {
      call.failed(lateLedger())
      return
    }
    this.#waiting.add(call, this.#sent.size === 0 ? queueMicrotask : afterThisTurn)
  }

  /** Resolves when nothing is pending or scheduled. */
  idle(): Promise<void> {
    if (this.#sent.size === 0 && this.#waiting.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  /** Gives up requests without a reply, so that a key can be requested again. */
  giveUpLost(now: number): void {
    for (const sent of this.#sent) if (now > sent.deadlineAt + LOST_AFTER_MS) sent.giveUp()
  }

  /** Gives up pending requests and sends no further ones. */
  close(): void {
    this.#isClosed = true
    for (const call of this.#waiting.take()) call.failed(lateLedger())
    for (const sent of this.#sent) sent.giveUp()
  }

  #sendAll(calls: readonly LeaseCall[]): void {
    for (let from = 0; from < calls.length; from += BATCH) this.#send(calls.slice(from, from + BATCH))
  }

  #send(calls: readonly LeaseCall[]): void {
    const sentAt = this.#clock.now()
    // composing a call takes its deadline with it
    const deadlineAt = Math.max(...calls.map((call) => call.deadlineAt))
    const asks = calls.map((call) => call.compose())
    const done = (grants: readonly (LeaseGrant | Error)[]): void => {
      if (this.#sent.has(sent)) answerAll(calls, asks, grants, sentAt)
    }
    const failed = (error: unknown): void => {
      if (!this.#sent.has(sent)) return
      for (const call of calls) call.failed(error)
    }
    const over = (): void => {
      if (!this.#sent.delete(sent)) return
      if (this.#sent.size > 0 || this.#waiting.size > 0) return
      for (const tell of this.#idle.splice(0)) tell()
    }
    const giveUp = (): void => {
      failed(lateLedger())
      over()
    }
    const sent: Sent = { deadlineAt, giveUp }
    this.#sent.add(sent)
    try {
      const answer = this.#ledger.ask(asks, deadlineAt)
      if (isPromise(answer)) answer.then(done).catch(failed).finally(over)
      else {
        done(answer)
        over()
      }
    } catch (error) {
      failed(error)
      over()
    }
  }
}

function answerAll(
  calls: readonly LeaseCall[],
  asks: readonly LeaseAsk[],
  grants: readonly (LeaseGrant | Error)[],
  sentAt: number,
): void {
  // checked before any waiter is served, so that none receives two results
  if (!Array.isArray(grants)) throw new MalformedAnswer('grants', grants, 'a list')
  for (const [index, call] of calls.entries()) {
    const grant: LeaseGrant | Error = grants[index]
    if (isGrant(grant, asks[index])) call.granted(asks[index], grant, sentAt)
    else call.failed(grant instanceof Error ? grant : new MalformedAnswer('grant', grant, 'what was asked, at most'))
  }
}

/** Rejects invalid grants: more units than requested would exceed the limit, and NaN would stay in the lease. */
function isGrant(grant: LeaseGrant | Error | null | undefined, { want }: LeaseAsk): grant is LeaseGrant {
  if (typeof grant !== 'object' || grant === null || grant instanceof Error) return false
  const { granted, free, charged, retryAfterMs, resetAfterMs, availableAfterMs = 0, now } = grant
  const counts = [granted, free, charged].every((units) => Number.isInteger(units) && units >= 0) && granted <= want
  const waits = retryAfterMs >= 0 && [resetAfterMs, availableAfterMs].every((ms) => Number.isFinite(ms) && ms >= 0)
  return counts && waits && Number.isFinite(now) && isOfPeriod(grant)
}

function isOfPeriod({ leaseMs = 0, capacity = 0, fund = 'included' }: LeaseGrant): boolean {
  const isWhole = Number.isSafeInteger(capacity) && capacity >= 0
  return isWhole && Number.isFinite(leaseMs) && leaseMs >= 0 && (fund === 'included' || fund === 'top-up')
}
