import { answeredBy, keepRunning, runtimeWaitUntil } from '@sluice/fleet/backend'
import {
  type AcquireOptions,
  type Cap,
  type Denial,
  FULL,
  Health,
  HeldPermit,
  type InflightBackend,
  newIdempotencyKey,
  type Permit,
  type PermitOwner,
  WEIGHT_EXCEEDS_LIMIT,
} from '@sluice/limiter-core/backend'
import { failureOf, failureOfText, unansweredFailure } from '../client/redis-failure.ts'
import { type Holder, type HoldReply, HoldScript } from './hold-script.ts'
import { capOf, type InflightTableOptions } from './inflight-table.ts'

const NAME = 'redis-inflight'
/** Time in ms after which the report of a release is given up. The place becomes free when its lease ends. */
const RELEASE_MS = 4_000

interface ExpiringPermitsOptions extends InflightTableOptions {
  readonly maxHoldMs: number
}

/** A permit with its own lease. */
class ExpiringPermit extends HeldPermit {
  readonly name: string
  readonly holder: Holder
  /** Time at which it is revoked. */
  readonly endsAt: number
  /** Stops the timer that revokes it. */
  stop: (() => void) | undefined

  constructor(home: ExpiringPermits, key: string, weight: number, at: { name: string; holder: Holder; now: number }) {
    super(home, key, weight, at.now)
    this.name = at.name
    this.holder = at.holder
    this.endsAt = at.now + at.holder.leaseMs
  }
}

/**
 * Holds permits that nothing renews: each is a lease in Redis that lasts as long as the permit may be held. For
 * Cloudflare Workers, where no timer outlives the request that set it, so that a process cannot renew its leases.
 */
export class ExpiringPermits implements InflightBackend, PermitOwner {
  readonly limit: number | undefined
  readonly identity: object
  readonly #options: ExpiringPermitsOptions
  readonly #script: HoldScript
  readonly #health: Health
  /** Places that this isolate holds, by Redis key: the count while Redis is unavailable. */
  readonly #held = new Map<string, number>()
  /** Held permits by the duration of their leases, in the order in which they end. */
  readonly #permits = new Map<number, Set<ExpiringPermit>>()

  constructor(options: ExpiringPermitsOptions) {
    this.#options = options
    this.limit = options.cap?.limit
    this.identity = options.identity
    this.#script = new HoldScript(options)
    this.#health = new Health({ ...options, name: NAME })
  }

  async acquire(
    key: string,
    { weight = 1, signal, cap = capOf(this.#options.cap) }: AcquireOptions = {},
  ): Promise<Permit | Denial> {
    const { clock, nameOf, maxHoldMs } = this.#options
    if (weight > cap.limit) return WEIGHT_EXCEEDS_LIMIT
    if (signal?.aborted) return FULL
    const name = nameOf(key, cap)
    const now = clock.now()
    const holder = { id: newIdempotencyKey(now).id, leaseMs: cap.maxHoldMs ?? maxHoldMs }
    const reply = await this.#ask(holder, name, [0, 0, cap.limit, -1, 1, weight, 1])
    this.#revokeEnded()
    if (!reply) this.#health.log.countFallback()
    const isFree = reply ? reply.granted[0] === 1 : this.#heldOf(name) + weight <= cap.limit
    if (!isFree) return FULL
    const permit = new ExpiringPermit(this, key, weight, { name, holder, now })
    this.#held.set(name, this.#heldOf(name) + weight)
    this.#alike(holder.leaseMs).add(permit)
    permit.stop = clock.after(permit.endsAt - clock.now(), () => permit.lose())
    if (!signal?.aborted) return permit
    permit.release('dropped')
    return FULL
  }

  /** Returns the places of all isolates, or of this one while Redis is unavailable. */
  async count(key: string, cap: Cap = capOf(this.#options.cap)): Promise<number> {
    const { clock, nameOf, maxHoldMs } = this.#options
    const name = nameOf(key, cap)
    const holder = { id: newIdempotencyKey(clock.now()).id, leaseMs: maxHoldMs }
    const reply = await this.#ask(holder, name, [0, 0, cap.limit, -1, 0])
    this.#revokeEnded()
    return reply?.total ?? this.#heldOf(name)
  }

  released(permit: HeldPermit): void {
    const { name, holder, stop, weight } = permit as ExpiringPermit
    stop?.()
    this.#alike(holder.leaseMs).delete(permit as ExpiringPermit)
    const left = this.#heldOf(name) - weight
    if (left > 0) this.#held.set(name, left)
    else this.#held.delete(name)
    this.#giveBack(holder, name)
  }

  /** Returns the permits with leases of this duration. */
  #alike(leaseMs: number): Set<ExpiringPermit> {
    const permits = this.#permits.get(leaseMs) ?? new Set()
    this.#permits.set(leaseMs, permits)
    return permits
  }

  /** Revokes permits whose timers were dropped, because the requests that set the timers have ended. */
  #revokeEnded(): void {
    const now = this.#options.clock.now()
    for (const permits of this.#permits.values()) {
      for (const permit of permits) {
        if (permit.endsAt > now) break
        permit.lose()
      }
    }
  }

  #heldOf(name: string): number {
    return this.#held.get(name) ?? 0
  }

  /** Returns the reply about one key; undefined if Redis is unavailable. While it is, one call per second tries it. */
  async #ask(holder: Holder, name: string, args: readonly number[]): Promise<HoldReply | undefined> {
    const { clock, deadlineMs, observers } = this.#options
    const { breaker } = this.#health
    const isProbe = breaker.mayProbe()
    if (!isProbe && !breaker.admits()) return undefined
    const sentAt = clock.now()
    try {
      const reply = await answeredBy(
        this.#call(holder, name, args, sentAt + deadlineMs),
        sentAt + deadlineMs,
        clock,
        unansweredFailure,
      )
      if (isProbe) breaker.probed(clock.now() - sentAt)
      else breaker.succeeded()
      return reply
    } catch (error) {
      const failure = failureOf(error)
      this.#health.reportFailure(failure.code, failure)
      observers.event('backendFailed', { backend: NAME, cause: failure.code, error: failure })
      if (failure.keyOnly) breaker.abandoned()
      else if (!isProbe) breaker.failed(sentAt, failure.code === 'LATE')
      // Redis may have stored the lease of a permit that is not granted, or whose release it would not find
      if (failure.mayHaveCounted) this.#giveBack(holder, name)
      return undefined
    }
  }

  async #call(holder: Holder, name: string, args: readonly number[], deadlineAt: number): Promise<HoldReply> {
    const [reply] = await this.#script.run(holder, [{ name, args, replies: 2 + args[4] }], deadlineAt)
    if (reply.failure !== undefined) throw failureOfText(reply.failure)
    return reply
  }

  /** Deletes a lease. If that fails, the lease expires. */
  #giveBack(holder: Holder, name: string): void {
    const deadlineAt = this.#options.clock.now() + RELEASE_MS
    keepRunning(
      runtimeWaitUntil(),
      this.#call(holder, name, [0, 0, 1, -1, 0], deadlineAt).catch(() => {}),
    )
  }
}
