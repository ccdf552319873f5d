import type { Counters } from '@sluice/fleet/backend'
import type { MetricSource, ScriptRunner } from '@sluice/limiter-core'
import { badOption, integerFrom, optionsOf } from '@sluice/limiter-core/backend'
import { isRedisClients, type RedisClient, type RedisClients, scriptRunner } from '@sluice/redis'
import { BufferedCounters } from '../buffer/buffered-counters.ts'
import { counterSettings, SHARED_COUNTERS_OPTIONS, type SharedCountersOptions } from '../counter-options.ts'
import type { CounterLedger } from '../ledger/counter-ledger.ts'
import { checkedPrefix, PartitionKeys } from './partition-keys.ts'
import { PartitionScripts } from './partition-scripts.ts'
import { PartitionedCounters } from './partitioned-counters.ts'
import { RedisPartition } from './redis-partition.ts'
import { RedisPartitions } from './redis-partitions.ts'

export interface RedisCountersOptions extends SharedCountersOptions {
  /** Durable storage, from `postgresLedger`. */
  readonly ledger: CounterLedger
  /** First part of every Redis key; 1 to 64 characters without braces. Default: `sluice`. */
  readonly prefix?: string | undefined
  /**
   * Number of partitions that ids are distributed over, 1 to 1,024. Each has its own slot in a cluster and is handed
   * over separately. All processes must use the same number. Changing it starts empty in Redis, so flush before.
   * Default: 8.
   */
  readonly partitions?: number | undefined
  /**
   * Maximum number of ids per partition with unwritten units, e.g. while the ledger is down; increments of further ids
   * are rejected with `SLUICE_COUNTERS_FULL`. 1 to 1,000,000. Default: 10,000.
   */
  readonly maxWaiting?: number | undefined
}

const OPTIONS = [...SHARED_COUNTERS_OPTIONS, 'ledger', 'prefix', 'partitions', 'maxWaiting'] as const
/** Time for which a process that hands a batch over is not disturbed by others. */
const HELD_MS = 2_000

/**
 * Creates counters in Redis or Redis Cluster that all processes share and that are written to a ledger every `flushMs`,
 * each unit exactly once. A killed process loses no acknowledged units. If Redis loses its data, units counted since
 * the last flush are lost, except increments that were `durable` or had a token; these, and batches that span several
 * partitions, are written to the ledger at once.
 *
 * `client` is a client of ioredis 5 or 6, a `ScriptRunner`, or an object of several by name, which share the ids by
 * consistent hashing of the names. All processes need the same names. A client added later takes over its share of the
 * ids; units of these ids that are pending on other servers still reach the ledger. The counters are also a metric
 * source.
 *
 * Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_DURATION` and `SLUICE_BAD_NAME`.
 */
export function redisCounters(
  client: RedisClient | ScriptRunner | RedisClients,
  options: RedisCountersOptions,
): Counters & MetricSource {
  const {
    ledger,
    prefix = 'sluice',
    partitions = 8,
    maxWaiting = 10_000,
  } = optionsOf('redisCounters', options, OPTIONS)
  const settings = counterSettings('redisCounters', ledger, options)
  const { name, table, clock, expireMs, waitMs } = settings
  const maxOwed = integerFrom('redisCounters: maxWaiting', maxWaiting, 1, 1_000_000)
  const head = checkedPrefix('redisCounters', prefix)
  const count = integerFrom('redisCounters: partitions', partitions, 1, 1_024)
  const partitionsOf = (runner: ScriptRunner): readonly RedisPartition[] =>
    Array.from({ length: count }, (_, index) => {
      const keys = new PartitionKeys(head, name, index)
      const scripts = new PartitionScripts({ runner, clock, keys, expireMs, maxOwed, waitMs })
      return new RedisPartition({ scripts, table, heldMs: HELD_MS, clock, waitMs })
    })
  const servers = new Map(runnersOf(client).map(([server, runner]) => [server, partitionsOf(runner)]))
  const direct = new BufferedCounters({ ...settings, maxBatch: 10_000, maxWaiting: 100_000, maxEntries: 10_000 })
  return new PartitionedCounters({ ...settings, partitions: new RedisPartitions(servers), direct })
}

function runnersOf(client: RedisClient | ScriptRunner | RedisClients): [name: string, runner: ScriptRunner][] {
  if (!isRedisClients(client)) return [['redis', scriptRunner(client)]]
  const clients = Object.entries(client)
  if (clients.length === 0) throw badOption('redisCounters: client', client, 'an object with at least one client')
  return clients.map(([name, one]) => [name, scriptRunner(one)])
}
