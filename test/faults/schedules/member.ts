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

/** Where a member finds its servers. */
export type Address = { readonly url: string } | { readonly nodes: { host: string; port: number }[] }

export interface MemberOptions {
  readonly schedule: Omit<Schedule, 'actions'>
  readonly address: Address
  readonly scope: string
}

/** What came of a take, for its caller and at the server. */
export interface TakeReport {
  readonly id: number
  readonly allowed: boolean
  readonly counted: boolean
  readonly takenAt: number
  readonly remaining: number
  /** True where its own process knows that the server has not counted it. */
  readonly surelyUncounted: boolean
}

interface Taken {
  readonly decision: Decision
  readonly policy: PolicyName
  readonly key: string
  readonly call: Call | undefined
}

/** One process of a fleet, or what stands for one: a client, a backend and limiters of its own. */
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

  /** What the server made of a take, as far as that is known by now. */
  serverSide(id: number): ServerSide {
    const { decision, call } = this.#taken[id]
    if (decision.counted) return decision.allowed ? 'counted' : 'not counted'
    return call ? call.serverSide : 'not counted'
  }

  /** Gives units of a take back. Answers whether the server did it; else it is owed. */
  async refund(id: number, units: number): Promise<boolean> {
    const { policy, key, decision } = this.#taken[id]
    return (await this.#limiters[policy].charge(key, -units, decision)).counted
  }

  /** Answers whether the server did it; else it may do it later. */
  async reset(policy: PolicyName, key: string): Promise<boolean> {
    const [made, call] = this.#watched(() => this.#limiters[policy].reset(key))
    await made
    return call?.serverSide === 'counted'
  }

  async peek(policy: PolicyName, key: string): Promise<void> {
    await this.#limiters[policy].peek(key)
  }

  /** Tells the server what it may lack of a key. Answers whether it answered. */
  async tell(policy: PolicyName, key: string): Promise<boolean> {
    const [made, call] = this.#watched(() => this.#limiters[policy].take(key, 0))
    const { counted } = await made
    // what is on lease answers for itself
    const seen = await this.#limiters[policy].peek(key, 0)
    return counted && call !== undefined && seen.counted
  }

  /** Gives back what is on lease, and lets go of all. */
  async close(): Promise<void> {
    for (const limiter of Object.values(this.#limiters)) limiter.close()
    await this.#backend.close?.()
    this.#client.disconnect()
  }

  /** What is made, and the first call of the backend that it began. */
  #watched<T>(make: () => MaybePromise<T>): [MaybePromise<T>, Call | undefined] {
    this.#calls = []
    const made = make()
    const call = this.#calls.find(({ operation }) => operation !== 'peek')
    return [made, call]
  }
}

function connect(address: Address) {
  // a path that is silent is left soon, so that a schedule is short
  const client =
    'nodes' in address
      ? createRedisCluster(address.nodes, { redisOptions: { socketTimeout: 500, disconnectTimeout: 100 } })
      : createRedis(address.url, { socketTimeout: 500, disconnectTimeout: 100 })
  return client
}

/** Answers after so many ms. */
export function rest(ms: number): Promise<void> {
  return new Promise((resolve) => systemClock.after(ms, resolve, { keepAlive: true }))
}
