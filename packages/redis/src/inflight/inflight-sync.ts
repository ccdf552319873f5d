import { afterThisTurn, type Breaker, type Clock, type Deadlines, TurnBatch } from '@sluice/limiter-core/backend'
import { CROSSSLOT } from '../client/given-runner.ts'
import { hashSlot } from '../client/hash-slot.ts'
import { failureOf, RedisFailure } from '../client/redis-failure.ts'
import { type HoldReply, HoldRequest, worstOf } from './hold-request.ts'
import type { KeyPermits } from './key-permits.ts'
import type { Standstill } from './standstill.ts'
import { WaitingBySlot } from './waiting-by-slot.ts'

/** Number of pending calls above which renewals wait, so that a heartbeat of many keys does not delay acquires. */
const MOST_CALLS = 4

export interface InflightSyncOptions {
  readonly clock: Clock
  readonly deadlineMs: number
  readonly leaseMs: number
  readonly breaker: Breaker
  readonly deadlines: Deadlines
  readonly standstill: Standstill
  /** Names the keys that can go in one call: a hash slot, where there are several. */
  readonly hashSlotOf: (name: string) => number
  /** Rejects, or returns one reply per request. */
  readonly run: (requests: readonly HoldRequest[], deadlineAt: number) => Promise<readonly HoldReply[]>
  readonly failed: (failure: RedisFailure) => void
  /** Called before reports are sent or replies applied: the process may have been suspended. */
  readonly awake: () => void
  /** No call about it is pending any longer. */
  readonly freed: (holding: KeyPermits) => void
}

/**
 * Sends the reports of held places to the server and applies the replies. One call at a time concerns a key, so that
 * each can report its complete state; all keys of one turn of the event loop are sent together.
 */
export class InflightSync {
  readonly #options: InflightSyncOptions
  /** Holdings with waiting callers or released places. */
  readonly #soon = new TurnBatch<KeyPermits>(() => this.#callWaiting())
  /** Holdings that are renewed when there is time. */
  readonly #later: WaitingBySlot
  #calls = 0
  #drained: (() => void) | undefined

  constructor(options: InflightSyncOptions) {
    this.#options = options
    this.#later = new WaitingBySlot(options.hashSlotOf)
  }

  /** If nothing is pending it is sent at once, because waiting for others would only cost time. */
  request(holding: KeyPermits): void {
    this.#soon.add(holding, this.#calls === 0 ? atOnce : afterThisTurn)
  }

  report(holding: KeyPermits): void {
    this.#soon.add(holding)
  }

  renew(holding: KeyPermits): void {
    this.#later.add(holding)
    this.#soon.schedule()
  }

  /** Checks, at most once per second, whether the server answers again. */
  probe(holding: KeyPermits): void {
    if (!holding.busy && this.#options.breaker.mayProbe()) this.#send([holding], true)
  }

  /** Resolves when nothing is pending and nothing has to be reported. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#drained = resolve
      this.#soon.schedule()
    })
  }

  #callWaiting(): void {
    this.#options.awake()
    const soon = new WaitingBySlot(this.#options.hashSlotOf)
    for (const holding of this.#soon.take()) soon.add(holding)
    while (soon.any) this.#call(soon.take())
    while (this.#later.any && this.#calls < MOST_CALLS) this.#call(this.#later.take())
    if (this.#calls === 0 && this.#soon.size === 0) this.#drained?.()
  }

  #call(holdings: readonly KeyPermits[]): void {
    // a busy holding is reported after its call, and an idle one may have been replaced
    const free = holdings.filter((one) => !one.busy && !one.idle(this.#options.clock.now()))
    if (free.length === 0) return
    if (this.#options.breaker.admits()) this.#send(free, false)
    else for (const holding of free) holding.answerAllHere()
  }

  #send(holdings: readonly KeyPermits[], isProbe: boolean): void {
    const { clock, deadlineMs, deadlines, breaker, run } = this.#options
    const sentAt = clock.now()
    const requests = holdings.map((holding) => new HoldRequest(holding, holding.request(sentAt)))
    const call = { requests, sentAt, isProbe }
    const answer = run(requests, sentAt + deadlineMs)
    this.#calls++
    const ended = deadlines.race(answer, {
      answered: (replies) => this.#answered(call, replies),
      failed: (error) => this.#failed(call, failureOf(error)),
      late: () => this.#failed(call, new RedisFailure('LATE', `no answer within ${deadlineMs} ms`)),
    })
    const done = (): void => {
      this.#calls--
      this.#soon.schedule()
    }
    ended.then(done, done)
    // even a late reply to a probe shows that a stall has ended
    if (isProbe) answer.then((replies) => !worstOf(replies) && breaker.probed(clock.now() - sentAt)).catch(() => {})
  }

  #answered(call: Call, replies: readonly HoldReply[]): void {
    const { breaker, awake, failed, clock, leaseMs, standstill } = this.#options
    const { requests, sentAt, isProbe } = call
    awake()
    standstill.answered()
    // the reply was read so late that its grants have expired
    if (clock.now() - sentAt >= leaseMs) {
      this.#again(call)
      return
    }
    const worst = worstOf(replies)
    if (worst) failed(worst)
    if (!isProbe && (!worst || worst.keyOnly)) breaker.succeeded()
    if (!isProbe && worst && !worst.keyOnly) breaker.failed()
    requests.forEach((request, index) => {
      if (replies[index].failure === undefined) request.answered(replies[index], sentAt)
      else request.failed()
      this.#free(request.holding, replies[index].failure === undefined)
    })
  }

  /** The outcome is unknown and says nothing about the server: remaining callers move to the next call. */
  #again({ requests }: Call): void {
    for (const request of requests) {
      request.holding.unanswered()
      request.retry()
      this.#free(request.holding, true)
    }
  }

  #failed(call: Call, failure: RedisFailure): void {
    // of a cluster that was taken for one server: nothing was done, and the next calls have keys of one slot each
    const isSplit =
      failure.code === CROSSSLOT && new Set(call.requests.map(({ holding }) => hashSlot(holding.name))).size > 1
    if (isSplit || (failure.code === 'LATE' && this.#options.standstill.excuses(call.sentAt))) {
      this.#again(call)
      return
    }
    this.#options.failed(failure)
    this.#options.breaker.failed()
    const mayArrive = failure.code === 'CONNECTION'
    for (const request of call.requests) {
      const { holding } = request
      if (mayArrive || failure.code === 'LATE') holding.unanswered()
      holding.doubtful = mayArrive
      request.failed()
      if (mayArrive) holding.answerAllHere()
      else this.#free(holding, false)
    }
    if (mayArrive) this.#freeLater(call.requests)
  }

  /** A call on a broken connection may still reach the server, up to its deadline: after that it does nothing. */
  #freeLater(requests: readonly HoldRequest[]): void {
    const free = (): void => {
      for (const { holding } of requests) this.#free(holding, false)
    }
    this.#options.deadlines.race(new Promise<never>(() => {}), { answered: free, failed: free, late: free })
  }

  // after a failure only a waiting caller justifies another call at once: the next heartbeat reports the rest
  #free(holding: KeyPermits, wasAnswered: boolean): void {
    holding.busy = false
    holding.doubtful = false
    if (holding.waits || (wasAnswered && holding.unsaid)) this.report(holding)
    else this.#options.freed(holding)
  }
}

function atOnce(run: () => void): void {
  run()
}

interface Call {
  readonly requests: readonly HoldRequest[]
  readonly sentAt: number
  readonly isProbe: boolean
}
