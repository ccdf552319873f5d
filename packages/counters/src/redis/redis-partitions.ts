import type { CounterReading } from '@sluice/fleet/backend'
import { HashRing, partitionOf } from '@sluice/fleet/backend'
import type { Owed } from '../metrics/owed-metrics.ts'
import type { RedisPartition } from './redis-partition.ts'

/** The partitions that ids are distributed over, on one server or on several servers chosen by consistent hashing. */
export class RedisPartitions {
  readonly #servers: ReadonlyMap<string, readonly RedisPartition[]>
  readonly #all: readonly RedisPartition[]
  readonly #ring: HashRing

  /** `servers` contains the partitions of each server, by its name. */
  constructor(servers: ReadonlyMap<string, readonly RedisPartition[]>) {
    this.#servers = servers
    this.#all = [...servers.values()].flat()
    this.#ring = new HashRing([...servers.keys()])
  }

  [Symbol.iterator](): Iterator<RedisPartition> {
    return this.#all[Symbol.iterator]()
  }

  of(id: string): RedisPartition {
    const own = this.#servers.get(this.#ring.serverOf(id)) ?? this.#all
    return own[partitionOf(id, own.length)]
  }

  /** Reads counters with one call per partition. */
  async read(ids: Iterable<string>): Promise<ReadonlyMap<string, CounterReading>> {
    const read = await this.#each(ids, (partition, own) => partition.count(new Map(own.map((id) => [id, 0]))))
    return new Map(read.flatMap(({ readings }) => [...readings]))
  }

  /** Reads totals again from the ledger. */
  async refresh(ids: Iterable<string>): Promise<void> {
    await this.#each(ids, (partition, own) => partition.refresh(own))
  }

  /** Resolves when the ledger has all units counted before the call. */
  async flush(): Promise<void> {
    await Promise.all(this.#all.map((partition) => partition.flush()))
  }

  /** Returns the units of all partitions that the ledger does not have. */
  async owed(): Promise<Owed> {
    const parts = await Promise.all(this.#all.map((partition) => partition.owed()))
    return {
      ids: parts.reduce((sum, { ids }) => sum + ids, 0),
      ageMs: Math.max(...parts.map(({ ageMs }) => ageMs)),
      auditDifference: parts.reduce((sum, { auditDifference }) => sum + auditDifference, 0),
    }
  }

  #each<T>(
    ids: Iterable<string>,
    run: (partition: RedisPartition, own: readonly string[]) => Promise<T>,
  ): Promise<T[]> {
    const owners = new Map<RedisPartition, string[]>()
    for (const id of ids) {
      const partition = this.of(id)
      const own = owners.get(partition)
      if (own) own.push(id)
      else owners.set(partition, [id])
    }
    return Promise.all(Array.from(owners, ([partition, own]) => run(partition, own)))
  }
}
