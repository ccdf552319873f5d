import { afterThisTurn, type Clock, isPromise, MalformedAnswer } from '@sluice/limiter-core/backend'
import { TurnBatch } from '../backend/turn-batch.ts'
import { lateLeaseReply } from './late-lease-reply.ts'
import type { LeaseGrant, LeaseLedger, LeaseRequest } from './lease-ledger.ts'

/** A pending request to the ledger. Its content is composed when it is sent. */
export interface LeaseCall {
  /** Process time after which the caller no longer waits. */
  readonly deadlineAt: number
  compose(): LeaseRequest
  granted(ask: LeaseRequest, grant: LeaseGrant, sentAt: number): void
  failed(error: unknown): void
}

/** Maximum number of requests in one call to the ledger. */
const MAX_BATCH = 256

/**
 * Milliseconds after its deadline at which a request without a reply is given up. The time is long enough that a pause
 * of this process is not mistaken for a lost reply.
 */
const LOST_AFTER_MS = 5_000

/** A call that has not been answered yet. */
interface Sent {
  readonly deadlineAt: number
  /** Fails the requests of the call. A later reply is ignored. */
  giveUp(): void
}

/** Collects requests, so that there is one call to the ledger per turn of the event loop. */
export class LeaseCalls {
  readonly #ledger: LeaseLedger
  readonly #clock: Clock
  readonly #waiting = new TurnBatch<LeaseCall>((waiting) => this.#sendAll(waiting.take()))
  readonly #sent = new Set<Sent>()
  #onIdle: (() => void)[] = []
  #isClosed = false

  constructor(ledger: LeaseLedger, clock: Clock) {
    this.#ledger = ledger
    this.#clock = clock
  }

  /** Adds a request. It is sent in a microtask if no call is pending, otherwise at the end of the turn. */
  add(call: LeaseCall): void {
    if (this.#isClosed) {
      call.failed(lateLeaseReply())
      return
    }
    this.#waiting.add(call, this.#sent.size === 0 ? queueMicrotask : afterThisTurn)
  }

  /** Resolves when no request is pending or scheduled. */
  idle(): Promise<void> {
    if (this.#sent.size === 0 && this.#waiting.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#onIdle.push(resolve))
  }

  /** Gives up calls whose reply is overdue, so that their keys can be requested again. */
  giveUpLost(now: number): void {
    for (const sent of this.#sent) if (now > sent.deadlineAt + LOST_AFTER_MS) sent.giveUp()
  }

  /** Gives up pending requests, and rejects further ones. */
  close(): void {
    this.#isClosed = true
    for (const call of this.#waiting.take()) call.failed(lateLeaseReply())
    for (const sent of this.#sent) sent.giveUp()
  }

  #sendAll(calls: readonly LeaseCall[]): void {
    for (let from = 0; from < calls.length; from += MAX_BATCH) this.#send(calls.slice(from, from + MAX_BATCH))
  }

  #send(calls: readonly LeaseCall[]): void {
    const sentAt = this.#clock.now()
    // read before `compose`, which resets the deadline of a request
    const deadlineAt = Math.max(...calls.map((call) => call.deadlineAt))
    const asks = calls.map((call) => call.compose())
    const done = (grants: readonly (LeaseGrant | Error)[]): void => {
      if (this.#sent.has(sent)) answerAll(calls, asks, grants, sentAt)
    }
    const failed = (error: unknown): void => {
      if (!this.#sent.has(sent)) return
      for (const call of calls) call.failed(error)
    }
    const finish = (): void => {
      if (!this.#sent.delete(sent)) return
      if (this.#sent.size > 0 || this.#waiting.size > 0) return
      for (const resolve of this.#onIdle.splice(0)) resolve()
    }
    const giveUp = (): void => {
      failed(lateLeaseReply())
      finish()
    }
    const sent: Sent = { deadlineAt, giveUp }
    this.#sent.add(sent)
    try {
      const answer = this.#ledger.request(asks, deadlineAt)
      if (isPromise(answer)) answer.then(done).catch(failed).finally(finish)
      else {
        done(answer)
        finish()
      }
    } catch (error) {
      failed(error)
      finish()
    }
  }
}

function answerAll(
  calls: readonly LeaseCall[],
  asks: readonly LeaseRequest[],
  grants: readonly (LeaseGrant | Error)[],
  sentAt: number,
): void {
  // checked before any request is answered, so that no request receives two results
  if (!Array.isArray(grants)) throw new MalformedAnswer('grants', grants, 'an array')
  for (const [index, call] of calls.entries()) {
    const grant: LeaseGrant | Error = grants[index]
    if (isGrant(grant, asks[index])) call.granted(asks[index], grant, sentAt)
    else call.failed(grant instanceof Error ? grant : new MalformedAnswer('grant', grant, 'a valid grant'))
  }
}

/** Whether a grant is valid. More units than requested could exceed the limit, and NaN would stay in the lease. */
function isGrant(grant: LeaseGrant | Error | null | undefined, { want }: LeaseRequest): grant is LeaseGrant {
  if (typeof grant !== 'object' || grant === null || grant instanceof Error) return false
  const { granted, free, charged, retryAfterMs, resetAfterMs, availableAfterMs = 0, now } = grant
  const counts = [granted, free, charged].every((units) => Number.isInteger(units) && units >= 0) && granted <= want
  const isWait = (ms: number): boolean => typeof ms === 'number' && ms >= 0
  const waits = [retryAfterMs, resetAfterMs, availableAfterMs].every(isWait) && Number.isFinite(resetAfterMs)
  return counts && waits && Number.isFinite(now) && hasValidPeriod(grant)
}

function hasValidPeriod({ leaseMs = 0, capacity = 0, fund = 'included' }: LeaseGrant): boolean {
  const isWhole = Number.isSafeInteger(capacity) && capacity >= 0
  return isWhole && Number.isFinite(leaseMs) && leaseMs >= 0 && (fund === 'included' || fund === 'top-up')
}
