import {
  type Backend,
  createLimiter,
  type Decision,
  type Limiter,
  type MaybePromise,
  type PolicyInput,
} from '@sluice/limiter-core'
import { systemClock } from '@sluice/limiter-core/backend'
import { createRedis, createRedisCluster, leasedBackend, redisBackend } from '@sluice/redis'
import { type Call, observedBackend, type ServerSide } from './observed-backend.ts'
import { LEASE_MS, policiesOf } from './policies.ts'
import type { PolicyName, Schedule } from './schedule.ts'

/** How a member connects to its servers. */
export type Address = { readonly url: string } | { readonly nodes: { host: string; port: number }[] }

export interface MemberOptions {
  readonly schedule: Omit<Schedule, 'actions'>
  readonly address: Address
  readonly scope: string
}

/** Result of a take for its caller and at the server. */
export interface TakeReport {
  readonly id: number
  readonly allowed: boolean
  readonly counted: boolean
  readonly takenAt: number
  readonly remaining: number
  /** True if the process itself knows that the server has not counted the take. */
  readonly surelyUncounted: boolean
}

interface Taken {
  readonly decision: Decision
  readonly policy: PolicyName
  readonly key: string
  readonly call: Call | undefined
}

/** One process of a fleet, or an object that simulates one: it has its own client, backend and limiters. */
export class Member {
  readonly #client: ReturnType<typeof connect>
  readonly #backend: Backend
  readonly #limiters: Readonly<Record<PolicyName, Limiter>>
  readonly #taken: Taken[] = []
  #calls: Call[] = []

  constructor({ address, scope, schedule }: MemberOptions) {
    const { counting, rule, deadlineMs } = schedule
    this.#client = connect(address)
    const inner =
      counting === 'leased' ? leasedBackend(this.#client, { leaseMs: LEASE_MS }) : redisBackend(this.#client)
    this.#backend = observedBackend(inner, (call) => this.#calls.push(call))
    const limiter = (policy: PolicyInput): Limiter =>
      createLimiter({ policies: [policy], backend: this.#backend, scope, deadlineMs, onBackendError: rule })
    const { roomy, tight, brief } = policiesOf(schedule)
    this.#limiters = { roomy: limiter(roomy), tight: limiter(tight), brief: limiter(brief) }
  }

  async take(policy: PolicyName, key: string, cost: number): Promise<TakeReport> {
    const [made, call] = this.#watched(() => this.#limiters[policy].take(key, cost))
    const decision = await made
    const { allowed, counted, takenAt, binding } = decision
    const id = this.#taken.push({ decision, policy, key, call }) - 1
    const surelyUncounted = !counted && (call === undefined || call.serverSide === 'not counted')
    return { id, allowed, counted, takenAt, remaining: binding.remaining, surelyUncounted }
  }

  /** Server-side result of a take, as far as it is known. */
  serverSide(id: number): ServerSide {
    const { decision, call } = this.#taken[id]
    if (decision.counted) return decision.allowed ? 'counted' : 'not counted'
    return call ? call.serverSide : 'not counted'
  }

  /** Refunds units of a take. Returns whether the server applied the refund; otherwise it stays pending. */
  async refund(id: number, units: number): Promise<boolean> {
    const { policy, key, decision } = this.#taken[id]
    return (await this.#limiters[policy].charge(key, -units, decision)).counted
  }

  /** Returns whether the server applied the reset; otherwise it may do so later. */
  async reset(policy: PolicyName, key: string): Promise<boolean> {
    const [made, call] = this.#watched(() => this.#limiters[policy].reset(key))
    await made
    return call?.serverSide === 'counted'
  }

  async peek(policy: PolicyName, key: string): Promise<void> {
    await this.#limiters[policy].peek(key)
  }

  /** Sends usage of a key that the server may lack. Returns whether the server answered. */
  async tell(policy: PolicyName, key: string): Promise<boolean> {
    const [made, call] = this.#watched(() => this.#limiters[policy].take(key, 0))
    const { counted } = await made
    // a lease answers without the server
    const seen = await this.#limiters[policy].peek(key, 0)
    return counted && call !== undefined && seen.counted
  }

  /** Returns all leases and closes everything. */
  async close(): Promise<void> {
    for (const limiter of Object.values(this.#limiters)) limiter.close()
    await this.#backend.close?.()
    this.#client.disconnect()
  }

  /** Runs `make`, and returns its result and the first backend call that it started. */
  #watched<T>(make: () => MaybePromise<T>): [MaybePromise<T>, Call | undefined] {
    this.#calls = []
    const made = make()
    const call = this.#calls.find(({ operation }) => operation !== 'peek')
    return [made, call]
  }
}

function connect(address: Address) {
  // a silent connection is closed soon, so that a schedule is short
  const client =
    'nodes' in address
      ? createRedisCluster(address.nodes, { redisOptions: { socketTimeout: 500, disconnectTimeout: 100 } })
      : createRedis(address.url, { socketTimeout: 500, disconnectTimeout: 100 })
  return client
}

/** Resolves after the given number of milliseconds. */
export function rest(ms: number): Promise<void> {
  return new Promise((resolve) => systemClock.after(ms, resolve, { keepAlive: true }))
}
