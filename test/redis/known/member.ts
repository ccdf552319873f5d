import { once } from 'node:events'
import {
  type Backend,
  type BackendErrorRule,
  createLimiter,
  type Limiter,
  type PolicyInput,
} from '@sluice/limiter-core'
import { compilePolicy, systemClock } from '@sluice/limiter-core/backend'
import { redisBackend } from '@sluice/redis'
import type { Cluster, Redis } from 'ioredis'

export interface MemberOptions {
  readonly scope: string
  readonly policy: PolicyInput
  readonly onBackendError?: BackendErrorRule
}

/** A simulated process of a fleet: a client, a backend and a limiter, and a record of the admitted takes. */
export class Member {
  readonly client: Redis | Cluster
  readonly backend: Backend
  readonly limiter: Limiter
  admitted = 0
  uncounted = 0
  #answered = 0
  #breaker = 'closed'

  /** The deadline is long, so that a busy machine alone causes no failures. */
  constructor(client: Redis | Cluster, backend: Backend, { scope, policy, onBackendError }: MemberOptions) {
    this.client = client
    this.backend = backend
    const event = (name: string, { state }: Readonly<Record<string, unknown>>): void => {
      if (name === 'breaker') this.#breaker = `${state}`
    }
    const observers = [{ event }]
    this.limiter = createLimiter({ policies: [policy], backend, scope, deadlineMs: 2_000, onBackendError, observers })
  }

  async ready(): Promise<this> {
    if (this.client.status !== 'ready') await once(this.client, 'ready')
    return this
  }

  /** Takes the given number of times, one after the other. */
  async take(key: string, times: number, cost = 1): Promise<void> {
    for (let taken = 0; taken < times; taken++) {
      const { allowed, counted } = await this.limiter.take(key, cost)
      if (allowed) this.admitted += cost
      if (allowed && !counted) this.uncounted += cost
      // leased units are charged after a moment without requests
      if (counted && this.#breaker === 'closed' && this.client.status === 'ready') this.#answered++
    }
  }

  /** Takes until the backend counts again. */
  async takeUntilCounted(key: string): Promise<void> {
    const before = this.#answered
    for (let turn = 0; this.#answered === before; turn++) {
      await this.take(key, 1)
      if (turn > 1_000) throw new Error('the backend never counted again')
      // slowly, so that no machine uses up the local limit meanwhile
      await new Promise<void>((resolve) => systemClock.after(20, resolve))
    }
  }

  /** Loses its connection, and opens another one. */
  async reconnect(): Promise<void> {
    const back = new Promise((resolve) => this.client.once('ready', resolve))
    const stream = (this.client as unknown as { stream: { destroy(): void } }).stream
    stream.destroy()
    await back
  }

  async close(): Promise<void> {
    this.limiter.close()
    await this.backend.close?.()
    this.client.disconnect()
  }
}

/** Charged units of a key in Redis, without leased units. */
export async function chargedOf(
  client: Redis | Cluster,
  { scope, policy }: MemberOptions,
  key: string,
): Promise<number> {
  // a client that is still connecting would reject the command
  await client.ping()
  const { limit, burst = limit } = compilePolicy(policy)
  const exact = redisBackend(client)
  const limiter = createLimiter({ policies: [policy], backend: exact, scope, deadlineMs: 10_000 })
  const { binding, counted } = await limiter.peek(key)
  limiter.close()
  exact.close?.()
  if (!counted) throw new Error('Redis did not tell what it counted')
  return burst - binding.remaining
}
