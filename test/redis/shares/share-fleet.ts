import { InflightGate } from '@sluice/http'
import {
  createInflightLimiter,
  type InflightBackend,
  type InflightLimiter,
  type MaybePromise,
  type Permit,
} from '@sluice/limiter-core'
import { type AdaptiveOptions, adaptive } from '@sluice/overload'
import { redisInflight, scriptRunner } from '@sluice/redis'
import { FakeClock } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import { type Fate, FaultyRunner } from '../inflight/faulty-runner.ts'
import { ProcessClock } from '../inflight/process-clock.ts'

export const LEASE_MS = 4_000
/** Work that takes longer is not over when the share of its process expires. */
export const LONGEST_MS = LEASE_MS / 4
const DEADLINE_MS = 50
const REQUEST = { ip: '192.0.2.1', method: 'GET', route: '/', header: () => undefined, raw: {} }
let prefixes = 0

/** A simulated process with an adaptive cap. */
export interface Member {
  readonly cap: InflightLimiter
  readonly acquire: () => MaybePromise<Permit | undefined>
  readonly backend: InflightBackend
  readonly clock: ProcessClock
  readonly runner: FaultyRunner
  readonly permits: Set<Permit>
  /** What happens to its calls; undefined while it reaches Redis. */
  fate: Fate | undefined
  isDead: boolean
}

/** Simulated processes on one real Redis that share a learned limit, on one clock. */
export class ShareFleet {
  readonly time: FakeClock = new FakeClock({ nowMs: 1_000_000 })
  readonly members: Member[] = []
  /** Number of calls to Redis. */
  calls = 0
  readonly #redis: Redis
  readonly #prefix = `shares-${++prefixes}`
  readonly #options: AdaptiveOptions
  /** Whether requests reach the cap through `inflightLimit`. */
  readonly #areServers: boolean

  constructor(redis: Redis, options: AdaptiveOptions, areServers = false) {
    this.#redis = redis
    this.#options = options
    this.#areServers = areServers
  }

  get running(): Member[] {
    return this.members.filter(({ isDead }) => !isDead)
  }

  /** Places that are held by running processes. */
  get held(): number {
    return this.running.reduce((sum, { permits }) => sum + permits.size, 0)
  }

  /** The learned limit in Redis, and whether all processes apply it; undefined if there is none. */
  async limit(): Promise<{ readonly limit: number; readonly isSettled: boolean } | undefined> {
    const [key] = await this.#redis.keys(`${this.#prefix}:*`)
    const stored = key && (await this.#redis.hget(key, 'limit'))
    if (!stored) return undefined
    const [limit, , , settled] = stored.split(' ')
    return { limit: Number(limit), isSettled: settled === '1' }
  }

  join(): Member {
    const clock = new ProcessClock(this.time)
    const runner = new FaultyRunner(scriptRunner(this.#redis), () => {
      this.calls++
      return member.fate ?? 'well'
    })
    const serverTime = (): number => this.time.now()
    const times = { leaseMs: LEASE_MS, deadlineMs: DEADLINE_MS }
    const backend = redisInflight(runner, { clock, serverTime, prefix: this.#prefix, ...times })
    const options = { name: 'db', limit: adaptive(this.#options), backend, clock }
    const gate = this.#areServers ? new InflightGate<object, never>({ ...options, observers: [] }) : undefined
    const cap = gate?.limiter ?? createInflightLimiter(options)
    const acquire = async () => (gate ? (await gate.check(REQUEST))?.permit : cap.acquire())
    const member: Member = { cap, acquire, backend, clock, runner, permits: new Set(), fate: undefined, isDead: false }
    this.members.push(member)
    return member
  }

  /** Requests a place and holds it while `work` runs. Returns whether there was one. */
  async request({ acquire, permits }: Member, work: (done: () => void) => void): Promise<boolean> {
    const permit = await acquire()
    if (!permit) return false
    permits.add(permit)
    work(() => {
      permits.delete(permit)
      permit.release()
    })
    return true
  }

  /** Requests a place and holds it for some time. */
  hold(member: Member, ms: number): Promise<boolean> {
    return this.request(member, (done) => member.clock.after(ms, done))
  }

  /** Advances the time in steps that let calls be answered. */
  async pass(ms: number, stepMs = 10, each: () => void | Promise<void> = () => {}): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      await each()
      this.time.advance(Math.min(left, stepMs))
      await this.quiet()
    }
  }

  /** Waits until no call is pending. */
  async quiet(): Promise<void> {
    for (let calm = 0; calm < 2; ) {
      await new Promise((resolve) => setImmediate(resolve))
      calm = this.members.some(({ runner }) => runner.underWay > 0) ? 0 : calm + 1
    }
  }

  /** Ends a process without a goodbye. */
  kill(member: Member): void {
    member.clock.stop()
    member.isDead = true
  }

  /** Ends a process that holds no place. */
  async leave(member: Member): Promise<void> {
    await member.cap.close()
    await member.backend.close?.()
    member.isDead = true
  }

  /** Redis loses all data. */
  async loseData(): Promise<void> {
    const keys = await this.#redis.keys(`${this.#prefix}:*`)
    if (keys.length > 0) await this.#redis.del(...keys)
  }

  async close(): Promise<void> {
    for (const member of this.running) {
      member.fate = undefined
      await this.leave(member)
    }
  }
}
