import type { Pool } from 'pg'
import { type ChildNode, startNode } from '../../services/processes/child-node.ts'
import { type FaultTimes, lasting } from '../fleet.ts'
import type { CountingReport, CountingSite } from './children/counting-app.ts'

export type CountingApp = ChildNode<typeof import('./children/counting-app.ts')>

/** Location of the counts: in each process (`createCounters`), or in Redis for all processes (`redisCounters`). */
export type Tier = 'in a process' | 'in Redis'

/** Reports of the processes of a tier, and the final state of the ledger. */
export interface CountedTier {
  readonly tier: Tier
  readonly reports: readonly CountingReport[]
  /** Units in the ledger by id. */
  readonly durable: ReadonlyMap<string, number>
  /** Time from the end of the fault until the ledger had everything counted by then, in the slowest process. */
  readonly flushedAfterMs: number
}

export interface PassedFault extends FaultTimes {
  readonly waitMs: number
  readonly tiers: readonly CountedTier[]
}

export interface FleetSite extends Omit<CountingSite, 'name' | 'redisUrl' | 'ids'> {
  readonly redisUrl: string
}

/** Increments per second in each process. */
export const PER_SECOND = 200
const IDS: readonly string[] = Array.from({ length: 40 }, (_, index) => `page ${index}`)
const TIERS: readonly Tier[] = ['in a process', 'in Redis', 'in Redis']

/** Processes with counters: one with counters in memory, and two with counters in one Redis. */
export class CountingFleet {
  readonly apps: readonly CountingApp[]
  static #names = 0
  #name = ''
  #waitMs = 0

  private constructor(apps: readonly CountingApp[]) {
    this.apps = apps
  }

  static start(): CountingFleet {
    const path = 'faults/counters/children/counting-app.ts'
    return new CountingFleet(TIERS.map(() => startNode<typeof import('./children/counting-app.ts')>(path)))
  }

  /** The processes of a tier. */
  of(tier: Tier): readonly CountingApp[] {
    return this.apps.filter((_, index) => TIERS[index] === tier)
  }

  /** Units that the processes of a tier have acknowledged and the ledger does not have yet. */
  async behind(tier: Tier, ledger: Pool): Promise<number> {
    const answered = await Promise.all(this.of(tier).map((app) => app.call('answered')))
    const durable = await this.#durable(tier, ledger)
    return sum(answered) - sum([...durable.values()])
  }

  /** Name of the counters of a tier in the ledger. */
  nameOf(tier: Tier): string {
    return `${this.#name}-${TIERS.indexOf(tier)}`
  }

  async open({ redisUrl, ...site }: FleetSite): Promise<void> {
    this.#name = `row${CountingFleet.#names++}`
    this.#waitMs = site.waitMs
    const opened = this.apps.map((app, index) => {
      const tier = TIERS[index] as Tier
      const url = tier === 'in Redis' ? redisUrl : undefined
      return app.call('open', { ...site, ids: IDS, name: this.nameOf(tier), redisUrl: url })
    })
    await Promise.all(opened)
  }

  /** All processes use one name, and each one the tier given. */
  async openAll(tier: Tier, { redisUrl, ...site }: FleetSite): Promise<string> {
    const name = `row${CountingFleet.#names++}`
    const url = tier === 'in Redis' ? redisUrl : undefined
    await Promise.all(this.apps.map((app) => app.call('open', { ...site, ids: IDS, name, redisUrl: url })))
    return name
  }

  /** Counts for `calmMs`, through the fault, and for `calmMs` again. Resolves when the ledger is complete. */
  async through(
    fault: () => Promise<FaultTimes>,
    { calmMs, ledger }: { readonly calmMs: number; readonly ledger: Pool },
  ): Promise<PassedFault> {
    await Promise.all(this.apps.map((app, index) => app.call('start', { perSecond: PER_SECOND, nonce: `${index}` })))
    await lasting(calmMs)
    const times = await fault()
    const flushedAt = await Promise.all(this.apps.map((app) => app.call('flushed')))
    await lasting(calmMs)
    const reports = await Promise.all(this.apps.map((app) => app.call('stop')))
    const tiers = await Promise.all(
      [...new Set(TIERS)].map(async (tier) => {
        const own = <T>(all: readonly T[]): readonly T[] => all.filter((_, index) => TIERS[index] === tier)
        const flushedAfterMs = Math.max(...own(flushedAt)) - times.to
        return { tier, reports: own(reports), flushedAfterMs, durable: await this.#durable(tier, ledger) }
      }),
    )
    return { ...times, waitMs: this.#waitMs, tiers }
  }

  async stop(): Promise<void> {
    await Promise.all(this.apps.map((app) => app.stop()))
  }

  async #durable(tier: Tier, ledger: Pool): Promise<ReadonlyMap<string, number>> {
    const { rows } = await ledger.query('select id, value from sluice.counters where name = $1', [this.nameOf(tier)])
    return new Map(rows.map(({ id, value }) => [id, Number(value)]))
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0)
}
