import { randomBytes } from 'node:crypto'
import {
  type AcquireOptions,
  type BreakerState,
  type Cap,
  type Clock,
  Deadlines,
  type Denial,
  FULL,
  Health,
  type InflightBackend,
  type Interruption,
  KEEP_ALIVE,
  type KeyShare,
  type MaybePromise,
  type Observers,
  type Permit,
  type ScriptRunner,
  type SharedKey,
  SluiceError,
  WEIGHT_EXCEEDS_LIMIT,
} from '@sluice/limiter-core/backend'
import { hashSlot } from '../client/hash-slot.ts'
import type { RedisFailure } from '../client/redis-failure.ts'
import { Deferred } from './deferred.ts'
import { Heartbeat } from './heartbeat.ts'
import { HoldScript } from './hold-script.ts'
import { InflightSync } from './inflight-sync.ts'
import type { KeyPermits } from './key-permits.ts'
import { PendingAcquire } from './pending-acquire.ts'
import { PermitTable } from './permit-table.ts'
import { ShareTable } from './share-table.ts'
import { SuspensionDetector } from './suspension.ts'

const NAME = 'redis-inflight'

/** Validated `RedisInflightOptions`. */
export interface InflightTableOptions {
  readonly runner: ScriptRunner
  readonly identity: object
  readonly clock: Clock
  readonly observers: Observers
  readonly leaseMs: number
  readonly deadlineMs: number
  /** Cap for callers that pass none; undefined if `limit` is not set. */
  readonly cap: Cap | undefined
  readonly maxHoldMs: number | undefined
  readonly serverTime: (() => number) | undefined
  /** Returns the Redis key for a key of a cap. */
  readonly nameOf: (key: string, cap: Cap) => string
  /** Returns the Redis key for the shares of a learned limit. */
  readonly shareNameOf: (key: string, cap: Cap) => string
}

/** Holds the permits of this process, each a lease in Redis, and counts them alone while Redis is unavailable. */
export class InflightTable implements InflightBackend {
  readonly limit: number | undefined
  readonly identity: object
  readonly #options: InflightTableOptions
  readonly #holdings: PermitTable
  readonly #health: Health
  readonly #deadlines: Deadlines
  /** Deadlines of calls to Redis, which continue after their callers have received a local decision. */
  readonly #background: Deadlines
  readonly #standstill: SuspensionDetector
  readonly #script: HoldScript
  readonly #sync: InflightSync
  readonly #shares: ShareTable
  readonly #stopListening: (() => void) | undefined
  readonly #heartbeat: Heartbeat
  #closed = false

  constructor(options: InflightTableOptions) {
    const { runner, clock, deadlineMs, observers } = options
    this.#options = options
    this.limit = options.cap?.limit
    this.identity = options.identity
    const renew = (state: BreakerState): void => {
      if (state !== 'open') this.#renewAll()
    }
    this.#health = new Health({ name: NAME, clock, deadlineMs, observers, changed: renew })
    this.#deadlines = new Deadlines(clock, deadlineMs, KEEP_ALIVE)
    this.#background = new Deadlines(clock, deadlineMs)
    this.#standstill = new SuspensionDetector(options, this.#deadlines)
    this.#script = new HoldScript(options)
    const holder = { id: randomBytes(9).toString('base64url'), leaseMs: options.leaseMs }
    this.#heartbeat = new Heartbeat({ ...options, beat: () => this.#beat(), slept: (now) => this.#slept(now) })
    const awake = (): void => this.#heartbeat.checkSuspension()
    const changed = (holding: KeyPermits): void => this.#report(holding)
    this.#holdings = new PermitTable({ ...options, awake, changed, uncounted: () => this.#health.log.countFallback() })
    const hashSlotOf = (name: string): number => (runner.clustered ? hashSlot(name) : 0)
    const failed = (failure: RedisFailure): void => this.#failed(failure)
    this.#shares = new ShareTable({ ...options, hashSlotOf, failed })
    this.#sync = new InflightSync({
      ...options,
      awake,
      breaker: this.#health.breaker,
      deadlines: this.#background,
      standstill: this.#standstill,
      hashSlotOf,
      run: (requests, deadlineAt) => this.#script.run(holder, requests, deadlineAt),
      failed,
      freed: (holding) => this.#holdings.prune(holding),
    })
    this.#stopListening = runner.interrupted?.((event) => this.#interrupted(event))
  }

  acquire(
    key: string,
    { weight = 1, signal, cap = capOf(this.#options.cap) }: AcquireOptions = {},
  ): MaybePromise<Permit | Denial> {
    if (weight > cap.limit) return WEIGHT_EXCEEDS_LIMIT
    if (signal?.aborted) return FULL
    const holding = this.#holdingOf(key, cap)
    if (this.#decidesAlone(holding)) return this.#acquireHere(holding, weight)
    const wish = new PendingAcquire(weight, signal)
    holding.acquires.push(wish)
    this.#sync.request(holding)
    return this.#standstill.answerOf(wish, () => holding.decideLocally(wish))
  }

  /** Returns the number of held places: of all processes, or of this process alone while Redis is unavailable. */
  count(key: string, cap: Cap = capOf(this.#options.cap)): MaybePromise<number> {
    const holding = this.#holdingOf(key, cap)
    if (this.#decidesAlone(holding)) return holding.places
    const count = new Deferred<number>()
    holding.counts.push(count)
    this.#sync.request(holding)
    return this.#standstill.answerOf(count, () => count.answer(() => holding.places))
  }

  share(key: string, cap: Cap, shared: SharedKey, grown: () => void): KeyShare {
    return this.#shares.share(key, cap, shared, grown)
  }

  /**
   * Releases all places in Redis within the deadline. Held permits remain valid but are only counted in this process.
   */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#heartbeat.close()
    this.#stopListening?.()
    this.#holdings.leave()
    this.#renewAll()
    const done = (): void => {
      this.#deadlines.close()
      this.#background.close()
    }
    const drained = Promise.all([this.#sync.drained(), this.#shares.close()])
    await this.#deadlines.race(drained, { answered: done, failed: done, late: done })
  }

  #holdingOf(key: string, cap: Cap): KeyPermits {
    this.#heartbeat.checkSuspension()
    if (!this.#closed) this.#heartbeat.start()
    return this.#holdings.of(key, cap)
  }

  /** Whether this process decides alone about a key: Redis is unavailable, or the outcome of a call is unknown. */
  #decidesAlone(holding: KeyPermits): boolean {
    if (this.#closed || holding.mayStillArrive) return true
    if (this.#health.breaker.state !== 'open') return false
    this.#sync.probe(holding)
    return true
  }

  #acquireHere(holding: KeyPermits, weight: number): Permit | Denial {
    const answer = holding.grantHere(weight)
    this.#holdings.prune(holding)
    return answer
  }

  #report(holding: KeyPermits): void {
    this.#holdings.prune(holding)
    // a busy holding is reported after its call, and all holdings are reported when Redis is available again
    if (!this.#closed && !holding.busy && this.#health.breaker.state !== 'open') this.#sync.report(holding)
  }

  #beat(): boolean {
    for (const holding of this.#holdings) this.#holdings.prune(holding)
    this.#renewOrProbe()
    return this.#holdings.first !== undefined
  }

  #renewOrProbe(): void {
    const { first } = this.#holdings
    if (this.#health.breaker.state !== 'open') this.#renewAll()
    else if (first) this.#sync.probe(first)
  }

  #renewAll(): void {
    for (const holding of this.#holdings) this.#sync.renew(holding)
  }

  /**
   * Revokes permits whose lease expired while this process was suspended, because other processes may have taken their
   * places. A process that was running but could not reach Redis keeps its permits.
   */
  #slept(now: number): void {
    for (const holding of this.#holdings) holding.revokeExpired(now)
  }

  #interrupted(event: Interruption): void {
    if (event === 'lost') this.#script.forget()
    else this.#health.breaker.probeSoon()
    if (event === 'back') this.#renewOrProbe()
    this.#shares.interrupted(event)
  }

  #failed(failure: RedisFailure): void {
    this.#health.reportFailure(failure.code, failure)
    this.#options.observers.event('backendFailed', { backend: NAME, cause: failure.code, error: failure })
  }
}

/** Returns the cap for callers that pass none. Throws `SLUICE_BAD_LIMIT` if there is none. */
export function capOf(cap: Cap | undefined): Cap {
  if (cap) return cap
  throw new SluiceError(
    'SLUICE_BAD_LIMIT',
    'redisInflight: limit: expected an integer of at least 1 if acquire is called without a cap, received undefined',
  )
}
