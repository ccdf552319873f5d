import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { postgresLedger } from '@sluice/counters/postgres'
import { redisCounters } from '@sluice/counters/redis'
import { systemClock } from '@sluice/limiter-core/backend'
import type { SeededRandom } from '@sluice/testkit'
import { eventually } from '../../services/eventually.ts'
import { memoryFolder } from '../../services/memory-folder.ts'
import { copyEmbeddedTemplate, EMBEDDED_ARGS } from '../../services/postgres/embedded-template.ts'
import { type PostgresServer, startPostgres } from '../../services/postgres/postgres-server.ts'
import { type ChildNode, startNode } from '../../services/processes/child-node.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import type { CountingOptions } from './children/counting.ts'
import { type LaneLog, LaneLogs } from './lane-logs.ts'

/** `embedded`: buffered, with an embedded ledger in a folder instead of PostgreSQL. */
export type Tier = 'hot' | 'buffered' | 'embedded'
/** What is killed: the counting process, or a server. `emptied redis`: a Redis that loses all its data. */
export type Victim = 'process' | 'redis' | 'emptied redis' | 'postgres'

/** The final state of a lane: units sent and acknowledged, units lost before a flush, and units in the ledger. */
export interface CountedLane extends LaneLog {
  readonly lane: string
  readonly unflushed: number
  readonly durable: number
}

const LANES = 3
const LONGEST_DELAY_MS = 300

type Counting = ChildNode<typeof import('./children/counting.ts')>

/** Counts in a child process while the victim is killed `kills` times, each time at a random moment. */
export async function countThrough(
  { tier, victim, kills }: { readonly tier: Tier; readonly victim: Victim; readonly kills: number },
  random: SeededRandom,
): Promise<readonly CountedLane[]> {
  const folder = memoryFolder('sluice-counting-')
  const postgres = await startPostgres()
  const redis = await startRedis({ args: victim === 'emptied redis' ? [] : ['--appendonly', 'yes'] })
  try {
    if (tier === 'embedded') copyEmbeddedTemplate(folder)
    await postgresLedger(postgres.pool()).migrate()
    const lab = new Lab({ postgres, redis, tier, folder })
    await lab.start()
    for (let kill = 0; kill < kills; kill++) {
      await lab.counts()
      if (random.whole(2) === 0) await lab.flush()
      await new Promise<void>((resolve) => systemClock.after(random.whole(LONGEST_DELAY_MS), resolve))
      await lab.kill(victim)
    }
    await lab.counts()
    return await lab.end()
  } finally {
    await postgres.stop()
    await redis.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface LabParts {
  readonly postgres: PostgresServer
  readonly redis: RedisServer
  readonly tier: Tier
  /** Folder of the log, and of an embedded ledger. */
  readonly folder: string
}

class Lab {
  readonly #parts: LabParts
  readonly #logs: LaneLogs
  #child: Counting | undefined
  /** Units of each lane that were acknowledged before the last flush or kill. */
  #settled = new Map<string, number>()
  readonly #unflushed = new Map<string, number>()

  constructor(parts: LabParts) {
    this.#parts = parts
    this.#logs = new LaneLogs(this.#log)
  }

  get #log(): string {
    return join(this.#parts.folder, 'log')
  }

  async start(): Promise<void> {
    const { postgres, redis, tier, folder } = this.#parts
    this.#child = startNode('counters/crashes/children/counting.ts', { nodeArgs: EMBEDDED_ARGS })
    const redisUrl = tier === 'hot' ? redis.url : undefined
    const options: CountingOptions = {
      name: 'lab',
      postgresUrl: postgres.url,
      redisUrl,
      folder: tier === 'embedded' ? folder : undefined,
      log: this.#log,
      lanes: LANES,
    }
    await this.#child.call('start', options)
  }

  /** Resolves once each lane has counted another unit. */
  async counts(): Promise<void> {
    const before = this.#logs.read()
    const isMore = ([lane, { answered }]: readonly [string, LaneLog]): boolean =>
      answered > (before.get(lane)?.answered ?? 0)
    await eventually(
      async () => {
        const now = [...this.#logs.read()]
        return now.length === 3 * LANES && now.every(isMore)
      },
      { what: `a unit more of each lane (${this.#child?.output})`, timeoutMs: 30_000 },
    )
  }

  /** Marks all acknowledged units as flushed, since they must now survive. */
  async flush(): Promise<void> {
    const before = this.#logs.read()
    await this.#child?.call('flush').then(
      () => {
        for (const [lane, { answered }] of before) this.#settled.set(lane, answered)
      },
      () => {},
    )
  }

  async kill(victim: Victim): Promise<void> {
    const { postgres, redis } = this.#parts
    if (victim === 'process') {
      await this.#child?.stop()
      this.#loseUnflushed()
      await this.start()
      return
    }
    const server = victim === 'postgres' ? postgres : redis
    await server.kill()
    this.#loseUnflushed()
    await server.start()
  }

  #loseUnflushed(): void {
    for (const [lane, { answered }] of this.#logs.read()) {
      const lost = answered - (this.#settled.get(lane) ?? 0)
      this.#unflushed.set(lane, (this.#unflushed.get(lane) ?? 0) + lost)
      this.#settled.set(lane, answered)
    }
  }

  /** Kills the process, flushes its remaining units from another process, and returns the totals. */
  async end(): Promise<readonly CountedLane[]> {
    await this.flush()
    await this.#child?.stop()
    this.#loseUnflushed()
    const durable = await (this.#parts.tier === 'embedded' ? this.#embeddedTotals() : this.#totals())
    return Array.from(this.#logs.read(), ([lane, counted]) => ({
      lane,
      ...counted,
      unflushed: this.#unflushed.get(lane) ?? 0,
      durable: durable.get(lane) ?? 0,
    }))
  }

  async #totals(): Promise<ReadonlyMap<string, number>> {
    const { postgres, redis } = this.#parts
    const last = redisCounters(redis.client(), { name: 'lab', ledger: postgresLedger(postgres.pool()) })
    const readings = await last.readMany('')
    await last.close()
    return new Map(readings.map(({ id, value }) => [id, value]))
  }

  async #embeddedTotals(): Promise<ReadonlyMap<string, number>> {
    const last: Counting = startNode('counters/crashes/children/counting.ts', { nodeArgs: EMBEDDED_ARGS })
    const durable = await last.call('totals', this.#parts.folder, 'lab')
    await last.stop()
    return durable
  }
}
