import { TurnBatch } from '@sluice/fleet/backend'
import { afterThisTurn, type Breaker, type Clock, type Deadlines } from '@sluice/limiter-core/backend'
import { hashSlot } from '../client/hash-slot.ts'
import { failureOf, RedisFailure } from '../client/redis-failure.ts'
import { CROSSSLOT } from '../runners/custom-runner.ts'
import type { HoldReply } from './hold-script.ts'
import type { KeyPermits } from './key-permits.ts'
import { KeyReport, worstFailure } from './key-report.ts'
import type { SuspensionDetector } from './suspension.ts'
import { WaitingBySlot } from './waiting-by-slot.ts'

/**
 * Maximum number of pending calls while renewals are sent, so that a heartbeat of many keys does not delay acquires.
 */
const MAX_CALLS = 4

export interface InflightSyncOptions {
  readonly clock: Clock
  readonly deadlineMs: number
  readonly leaseMs: number
  readonly breaker: Breaker
  readonly deadlines: Deadlines
  readonly standstill: SuspensionDetector
  /** Returns the hash slot of a Redis key; 0 for a single server. One call contains the keys of one slot. */
  readonly hashSlotOf: (name: string) => number
  /** Sends one call. Resolves with one reply per request. */
  readonly run: (requests: readonly KeyReport[], deadlineAt: number) => Promise<readonly HoldReply[]>
  readonly failed: (failure: RedisFailure) => void
  /** Called before reports are sent or replies applied, to detect whether the process was suspended. */
  readonly awake: () => void
  /** Called when no call about a key is pending or waiting. */
  readonly freed: (holding: KeyPermits) => void
}

/**
 * Reports held places to Redis and applies the replies. At most one call per key is pending, so that each call reports
 * the complete state of the key. The keys of one turn of the event loop are sent together.
 */
export class InflightSync {
  readonly #options: InflightSyncOptions
  /** Keys with waiting callers or changed places, sent with the next calls. */
  readonly #soon = new TurnBatch<KeyPermits>(() => this.#callWaiting())
  /** Keys whose leases are renewed when fewer than `MOST_CALLS` calls are pending. */
  readonly #later: WaitingBySlot<KeyPermits>
  #calls = 0
  #drained: (() => void) | undefined

  constructor(options: InflightSyncOptions) {
    this.#options = options
    this.#later = new WaitingBySlot<KeyPermits>(options.hashSlotOf)
  }

  /** Requests places for waiting callers: at once if no call is pending, otherwise at the end of the turn. */
  request(holding: KeyPermits): void {
    this.#soon.add(holding, this.#calls === 0 ? atOnce : afterThisTurn)
  }

  /** Reports changed places at the end of the turn. */
  report(holding: KeyPermits): void {
    this.#soon.add(holding)
  }

  /** Renews the lease of a key with low priority. */
  renew(holding: KeyPermits): void {
    this.#later.add(holding)
    this.#soon.schedule()
  }

  /** Calls Redis to check whether it is available again, at most once per second. */
  probe(holding: KeyPermits): void {
    if (!holding.busy && this.#options.breaker.mayProbe()) this.#send([holding], true)
  }

  /** Resolves when no call is pending and nothing is left to report. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#drained = resolve
      this.#soon.schedule()
    })
  }

  #callWaiting(): void {
    this.#options.awake()
    const soon = new WaitingBySlot<KeyPermits>(this.#options.hashSlotOf)
    for (const holding of this.#soon.take()) soon.add(holding)
    while (soon.any) this.#call(soon.take())
    while (this.#later.any && this.#calls < MAX_CALLS) this.#call(this.#later.take())
    if (this.#calls === 0 && this.#soon.size === 0) this.#drained?.()
  }

  #call(holdings: readonly KeyPermits[]): void {
    // a busy key is reported after its pending call; an idle one has been removed and may have a new entry
    const free = holdings.filter((holding) => !holding.busy && !holding.idle(this.#options.clock.now()))
    if (free.length === 0) return
    if (this.#options.breaker.admits()) this.#send(free, false)
    else for (const holding of free) holding.answerAllHere()
  }

  #send(holdings: readonly KeyPermits[], isProbe: boolean): void {
    const { clock, deadlineMs, deadlines, breaker, run } = this.#options
    const sentAt = clock.now()
    const requests = holdings.map((holding) => new KeyReport(holding, holding.request(sentAt)))
    const call = { requests, sentAt, isProbe }
    const answer = run(requests, sentAt + deadlineMs)
    this.#calls++
    const ended = deadlines.race(answer, {
      answered: (replies) => this.#answered(call, replies),
      failed: (error) => this.#failed(call, failureOf(error)),
      late: () => this.#failed(call, new RedisFailure('LATE', `Redis did not reply within ${deadlineMs} ms`)),
    })
    const done = (): void => {
      this.#calls--
      this.#soon.schedule()
    }
    ended.then(done, done)
    // even a late reply to a probe shows that Redis is available again
    if (isProbe)
      answer.then((replies) => !worstFailure(replies) && breaker.probed(clock.now() - sentAt)).catch(() => {})
  }

  #answered(call: Call, replies: readonly HoldReply[]): void {
    const { breaker, awake, failed, clock, leaseMs, standstill } = this.#options
    const { requests, sentAt, isProbe } = call
    awake()
    standstill.answered()
    // the process was suspended for so long that the granted leases have expired
    if (clock.now() - sentAt >= leaseMs) {
      this.#again(call)
      return
    }
    const worst = worstFailure(replies)
    if (worst) failed(worst)
    if (!isProbe && (!worst || worst.keyOnly)) breaker.succeeded()
    if (!isProbe && worst && !worst.keyOnly) breaker.failed()
    requests.forEach((request, index) => {
      if (replies[index].failure === undefined) request.answered(replies[index], sentAt)
      else request.failed()
      this.#free(request.holding, replies[index].failure === undefined)
    })
  }

  /**
   * Retries a call whose outcome is unknown, without counting it as a failure: waiting callers move to the next call.
   */
  #again({ requests }: Call): void {
    for (const request of requests) {
      request.holding.markUnknown()
      request.retry()
      this.#free(request.holding, true)
    }
  }

  #failed(call: Call, failure: RedisFailure): void {
    // a cluster that was treated as a single server has rejected the call; the next calls contain one slot each
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
      if (mayArrive || failure.code === 'LATE') holding.markUnknown()
      holding.mayStillArrive = mayArrive
      request.failed()
      if (mayArrive) holding.answerAllHere()
      else this.#free(holding, false)
    }
    if (mayArrive) this.#freeLater(call.requests)
  }

  /** Frees keys after the deadline of their call. Until then a call on a broken connection may still reach Redis. */
  #freeLater(requests: readonly KeyReport[]): void {
    const free = (): void => {
      for (const { holding } of requests) this.#free(holding, false)
    }
    this.#options.deadlines.race(new Promise<never>(() => {}), { answered: free, failed: free, late: free })
  }

  // after a failure the key is only reported at once if a caller waits; otherwise the next heartbeat reports it
  #free(holding: KeyPermits, wasAnswered: boolean): void {
    holding.busy = false
    holding.mayStillArrive = false
    if (holding.waits || (wasAnswered && holding.hasUnreported)) this.report(holding)
    else this.#options.freed(holding)
  }
}

function atOnce(run: () => void): void {
  run()
}

interface Call {
  readonly requests: readonly KeyReport[]
  readonly sentAt: number
  readonly isProbe: boolean
}
