import type { Counters, MetricSource, ScriptRunner } from '@sluice/limiter-core'
import { badOption, optionsOf } from '@sluice/limiter-core/backend'
import { isRedisClients, type RedisClient, type RedisClients, runnerOf } from '@sluice/redis'
import { BufferedCounters } from '../buffer/buffered-counters.ts'
import {
  counterSettings,
  SHARED_COUNTERS_OPTIONS,
  type SharedCountersOptions,
  wholeWithin,
} from '../counter-options.ts'
import type { CounterLedger } from '../ledger/counter-ledger.ts'
import { HotCounters } from './hot-counters.ts'
import { HotPartition } from './hot-partition.ts'
import { HotPartitions } from './hot-partitions.ts'
import { checkedPrefix, PartitionKeys } from './partition-keys.ts'
import { PartitionScripts } from './partition-scripts.ts'

export interface RedisCountersOptions extends SharedCountersOptions {
  /** Where counts are kept for good: `postgresLedger`. */
  readonly ledger: CounterLedger
  /** First part of every name in Redis; 1 to 64 characters without braces. Default: `sluice`. */
  readonly prefix?: string | undefined
  /**
   * Into how many parts ids are dealt, 1 to 1,024: each has a slot of a cluster, and is handed over by itself. The same in
   * all processes; another number begins anew in Redis, so flush before. Default: 8.
   */
  readonly partitions?: number | undefined
  /** Most ids of one partition that wait for a ledger that is away; one more is refused by `SLUICE_COUNTERS_FULL`. Default: 10,000. */
  readonly maxWaiting?: number | undefined
}

const OPTIONS = [...SHARED_COUNTERS_OPTIONS, 'ledger', 'prefix', 'partitions', 'maxWaiting'] as const
/** While another process hands a batch over it is left alone for so long. */
const HELD_MS = 2_000

/**
 * Counters that count in Redis or Redis Cluster, for all processes at once, and are written to a ledger every `flushMs`, each
 * unit once. A killed process loses nothing that it was answered; a Redis that loses its data loses what was counted since
 * the last flush, and nothing that was `durable` or had a token: that goes to the ledger at once, as do batches of ids
 * of several partitions.
 *
 * `client`: one of ioredis 5 or 6, or a `ScriptRunner`; or several by names, which share the ids by consistent hashing of
 * the names. All processes need the same names. One that is added takes its part of the ids: what the others have pending
 * of these goes to the ledger as before. They are a source of metrics, too. Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_DURATION` and
 * `SLUICE_BAD_NAME`.
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
  const maxOwed = wholeWithin('redisCounters: maxWaiting', maxWaiting, 1_000_000)
  const head = checkedPrefix('redisCounters', prefix)
  const count = wholeWithin('redisCounters: partitions', partitions, 1_024)
  const partitionsOf = (runner: ScriptRunner): readonly HotPartition[] =>
    Array.from({ length: count }, (_, index) => {
      const keys = new PartitionKeys(head, name, index)
      const scripts = new PartitionScripts({ runner, clock, keys, expireMs, maxOwed, waitMs })
      return new HotPartition({ scripts, table, heldMs: HELD_MS, clock, waitMs })
    })
  const servers = new Map(runnersOf(client).map(([server, runner]) => [server, partitionsOf(runner)]))
  const direct = new BufferedCounters({ ...settings, maxBatch: 10_000, maxWaiting: 100_000, maxEntries: 10_000 })
  return new HotCounters({ ...settings, partitions: new HotPartitions(servers), direct })
}

function runnersOf(client: RedisClient | ScriptRunner | RedisClients): [name: string, runner: ScriptRunner][] {
  if (!isRedisClients(client)) return [['redis', runnerOf(client)]]
  const clients = Object.entries(client)
  if (clients.length === 0) throw badOption('redisCounters: client', client, 'one client or more by names')
  return clients.map(([name, one]) => [name, runnerOf(one)])
}
