import { createLimiter, type Limiter } from '@sluice/limiter-core'
import { redisBackend } from '@sluice/redis'
import type { Cluster, Redis } from 'ioredis'
import { eventually } from '../../services/eventually.ts'
import { policiesOf } from './policies.ts'
import type { KeyName, PolicyName, Schedule } from './schedule.ts'

/** Fields of a lease as stored: owner, units, end, seq, base, charged, settled. */
const FIELDS = 7

/** Reads what a server has counted, independently of the members. */
export class ChargedReader {
  readonly #admin: Redis | Cluster
  readonly #scope: string
  readonly #limiters: Readonly<Record<PolicyName, Limiter>>
  readonly #limits: Readonly<Record<PolicyName, number>>
  readonly #close: () => unknown

  constructor(admin: Redis | Cluster, scope: string, schedule: Schedule) {
    const backend = redisBackend(admin)
    const { roomy, tight, brief } = policiesOf(schedule)
    const limiters = [roomy, tight, brief].map((policy) =>
      createLimiter({ policies: [policy], backend, scope, deadlineMs: 10_000 }),
    )
    this.#admin = admin
    this.#scope = scope
    this.#limiters = { roomy: limiters[0], tight: limiters[1], brief: limiters[2] }
    this.#limits = { roomy: roomy.limit, tight: tight.limit, brief: brief.limit }
    this.#close = () => [...limiters, backend].map((one) => one.close?.())
  }

  limitOf(policy: PolicyName): number {
    return this.#limits[policy]
  }

  /** Charged units, without leased units. */
  async charged({ policy, key }: KeyName): Promise<number> {
    let charged = Number.NaN
    await eventually(
      async () => {
        const { binding, counted } = await this.#limiters[policy].peek(key)
        charged = this.#limits[policy] - binding.remaining
        return counted
      },
      { what: 'an answer of the server that has counted' },
    )
    return charged
  }

  /** Charged units and leased units, read at the same time. */
  async chargedAndLent(name: KeyName): Promise<readonly [charged: number, lent: number]> {
    for (;;) {
      const before = await this.#leases(name)
      const charged = await this.charged(name)
      const after = await this.#leases(name)
      if (before.equals(after)) return [charged, unitsOf(after)]
    }
  }

  close(): void {
    this.#close()
  }

  async #leases({ policy, key }: KeyName): Promise<Buffer> {
    const [name] = await (this.#admin as Redis).keys(`*{${key}}:${this.#scope}/${policy}/*:leases`)
    const value = name === undefined ? null : await (this.#admin as Redis).getBuffer(name)
    return value ?? Buffer.alloc(0)
  }
}

function unitsOf(leases: Buffer): number {
  let units = 0
  for (let at = 8; at < leases.length; at += FIELDS * 8) units += leases.readDoubleLE(at)
  return units
}
