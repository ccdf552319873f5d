import { randomBytes } from 'node:crypto'
import { PARTITIONS, partitionOf } from '@sluice/fleet/backend'
import type { ReportedTakes, SyncAnswer, SyncBatch, SyncLedger } from '@sluice/fleet/sync'
import { type Backend, type Clock, type CountedKey, Deadlines, type ScriptRunner } from '@sluice/limiter-core/backend'
import type { EntityKeys } from '../client/entity-key.ts'
import { lateFailure, RedisFailure } from '../client/redis-failure.ts'
import { syncNodes } from '../lua/scripts.ts'
import { reportKeysOf } from '../lua/side-keys.ts'
import type { ServerState } from '../server-time/known-servers.ts'
import type { ScriptCall, TimeArg } from '../server-time/timed-calls.ts'
import { syncLedgerCall, syncLedgerReply } from './sync-ledger-call.ts'

/** Number of ticks without a report after which a process no longer counts as a node. */
const GONE_AFTER_TICKS = 10
/**
 * Milliseconds after which an exchange without a reply is considered lost, so that its batch is sent again. Longer than
 * the deadline of the exchange, because Redis may have received the batch in time and its reply may be slow.
 */
const LOST_AFTER_MS = 1_000

export interface RedisSyncOptions {
  readonly runner: ScriptRunner
  readonly clock: Clock
  readonly keys: EntityKeys
  readonly servers: ServerState
  readonly serverTime: (() => number) | undefined
  readonly tickMs: number
  /** Exact backend with the same Redis keys, used for resets. */
  readonly exact: Backend
}

/**
 * Ledger in Redis that stores the usage of all processes in the same cells and under the same keys as `redisBackend`.
 */
export class RedisSyncLedger implements SyncLedger {
  readonly partitions: number
  readonly #options: RedisSyncOptions
  readonly #deadlines: Deadlines
  /** Random id, different after each start of a process. */
  readonly #writer = randomBytes(12).toString('base64url')

  constructor(options: RedisSyncOptions) {
    this.#options = options
    this.#deadlines = new Deadlines(options.clock, LOST_AFTER_MS)
    this.partitions = options.keys.partitions ?? PARTITIONS
  }

  partitionOf(key: string): number {
    return partitionOf(key, this.partitions)
  }

  serverOf(partition: number): string {
    return this.#options.servers.calls.times.serverOf(this.#markOf(partition))
  }

  async exchange(batch: SyncBatch, deadlineAt: number): Promise<SyncAnswer> {
    const { servers, keys, clock } = this.#options
    const names = batch.takes.map((counted) => keys.nameOfCells(counted))
    const mark = this.#markOf(batch.partition)
    const requestedAt = clock.now()
    const needsIdentity = batch.takes.some(({ known }) => known !== undefined)
    const compose = (time: TimeArg): ScriptCall => {
      const reported = batch.takes.map(
        ({ known }, index) => known && servers.reports.reportOf(known, names[index], requestedAt),
      )
      const server = servers.reports.numberOf(mark)
      const { script, args } = syncLedgerCall(batch, { time, reported, server, offsetMs: this.#offsetMs(mark) })
      const minded = names.filter((_, index) => reported[index] || givesBack(batch.takes[index]))
      return { script, keys: [mark, ...names, ...minded.flatMap((name) => reportKeysOf(name, server))], args }
    }
    const call = { key: mark, needsIdentity, compose, read: (reply: unknown) => syncLedgerReply(batch, reply) }
    const reply = await this.#deadlines.inTime(servers.calls.run(call, deadlineAt)).catch((error) => {
      throw servers.reports.recordFailure(mark, error)
    })
    if (!reply) throw lateFailure()
    const offsetMs = this.#offsetMs(mark)
    const cells = reply.cells.map((cellsOrFailure, index) => {
      const { instants } = batch.takes[index].counter.compiled
      return cellsOrFailure instanceof RedisFailure
        ? cellsOrFailure
        : cellsOrFailure.map((cell, at) => (cell !== 0 && instants?.includes(at) ? cell - offsetMs : cell))
    })
    // an earlier batch was counted, or given up in favour of another one, and is missing on the server
    return { cells, lost: reply.last < batch.number - 1 && !batch.afterLoss }
  }

  async resetAll(counted: readonly CountedKey[]): Promise<void> {
    await this.#options.exact.resetAll(counted)
  }

  async nodes(deadlineAt: number): Promise<number | undefined> {
    const { runner, keys, tickMs } = this.#options
    const goneAfterMs = Math.ceil(GONE_AFTER_TICKS * tickMs)
    const answer = runner.run(syncNodes, [`${keys.prefix}:sync:nodes`], [this.#writer, goneAfterMs], { deadlineAt })
    const nodes = Number(await this.#deadlines.inTime(answer))
    return Number.isSafeInteger(nodes) && nodes >= 1 ? nodes : undefined
  }

  async close(): Promise<void> {
    this.#deadlines.close()
    this.#options.servers.close()
    await this.#options.exact.close?.()
  }

  /** Returns the Redis key of the last batch number of a partition, in the same slot as the keys of the partition. */
  #markOf(partition: number): string {
    const { keys } = this.#options
    if (keys.partitions === undefined) return `${keys.prefix}:sync:${partition}:${this.#writer}`
    return `${keys.headOf(partition)}sync:${this.#writer}`
  }

  /** Returns the ms to add to a time of the process clock to get the time of the server that holds `key`. */
  #offsetMs(key: string): number {
    const { clock, serverTime, servers } = this.#options
    if (serverTime) return serverTime() - clock.now()
    const offsetMs = servers.calls.times.at(key, 0)
    if (offsetMs === undefined)
      throw new RedisFailure('CONNECTION', 'the connection to Redis broke before the call was sent')
    return offsetMs
  }
}

/** Whether a batch takes units of a key back. */
function givesBack({ takes }: ReportedTakes): boolean {
  return takes.some((value, index) => index % 2 === 1 && value < 0)
}
