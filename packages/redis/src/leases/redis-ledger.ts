import type { LeaseGrant, LeaseLedger, LeaseRequest, LeaseTerms } from '@sluice/fleet/leases'
import type { Clock, CountedKey, ScriptRunner } from '@sluice/limiter-core/backend'
import type { EntityKeys } from '../client/entity-key.ts'
import { hashSlot } from '../client/hash-slot.ts'
import { lateFailure, RedisFailure } from '../client/redis-failure.ts'
import { leasesOf, reportKeysOf } from '../lua/side-keys.ts'
import { CROSSSLOT } from '../runners/custom-runner.ts'
import type { ServerState } from '../server-time/known-servers.ts'
import type { ScriptCall, TimeArg } from '../server-time/timed-calls.ts'
import { leaseLedgerCall, leaseLedgerReply } from './lease-ledger-call.ts'

export interface LeaseRedisOptions {
  readonly runner: ScriptRunner
  readonly clock: Clock
  readonly keys: EntityKeys
  readonly terms: LeaseTerms
  readonly servers: ServerState
}

/** Lease request with the Redis keys of its cells and of its leases. */
interface PlacedAsk {
  readonly ask: LeaseRequest
  readonly names: readonly [string, string]
  /** Time of the request on the process clock. */
  readonly requestedAt: number
}

/**
 * Maximum number of lease requests per script call. Each takes about 15 µs, during which Redis serves no other client.
 */
const BATCH = 64

/** Lease ledger in Redis. One script call contains many requests; in a cluster, the requests of one slot. */
export class LeaseRedisLedger implements LeaseLedger {
  readonly #options: LeaseRedisOptions

  constructor(options: LeaseRedisOptions) {
    this.#options = options
  }

  request(asks: readonly LeaseRequest[], deadlineAt: number): Promise<readonly (LeaseGrant | Error)[]> {
    return this.#ask(asks, deadlineAt, false)
  }

  async #ask(
    asks: readonly LeaseRequest[],
    deadlineAt: number,
    isRetry: boolean,
  ): Promise<readonly (LeaseGrant | Error)[]> {
    const answers = new Map<LeaseRequest, LeaseGrant | Error>()
    await Promise.all(
      this.#batches(asks).map(async (batch) => {
        const [{ names }] = batch
        const failed = (error: unknown): RedisFailure => this.#options.servers.reports.recordFailure(names[0], error)
        let grants = await this.#send(batch, deadlineAt).catch(failed)
        // a cluster that was treated as a single server: the retry sends one call per slot
        if (grants instanceof RedisFailure && grants.code === CROSSSLOT && !isRetry) {
          const retried = batch.map(({ ask }) => ask)
          grants = await this.#ask(retried, deadlineAt, true)
        }
        for (const [index, { ask }] of batch.entries()) {
          answers.set(ask, grants instanceof RedisFailure ? grants : grants[index])
        }
      }),
    )
    return asks.map((ask) => answers.get(ask) as LeaseGrant | Error)
  }

  mayHaveLost(counted: CountedKey, ageMs: number): boolean {
    return this.#options.servers.reports.mayHaveLost(this.#options.keys.nameOfCells(counted), ageMs)
  }

  close(): void {
    this.#options.servers.close()
  }

  #batches(asks: readonly LeaseRequest[]): PlacedAsk[][] {
    const { runner, keys, clock } = this.#options
    const requestedAt = clock.now()
    const bySlot = new Map<number, PlacedAsk[][]>()
    for (const ask of asks) {
      const name = keys.nameOfCells(ask)
      const slot = runner.clustered ? hashSlot(name) : 0
      const batches = bySlot.get(slot) ?? []
      bySlot.set(slot, batches)
      const last = batches.at(-1)
      const placed: PlacedAsk = { ask, names: [name, leasesOf(name)], requestedAt }
      if (last && last.length < BATCH) last.push(placed)
      else batches.push([placed])
    }
    return [...bySlot.values()].flat()
  }

  async #send(batch: readonly PlacedAsk[], deadlineAt: number): Promise<readonly (LeaseGrant | Error)[]> {
    const [key] = batch[0].names
    const compose = (time: TimeArg): ScriptCall => this.#callOf(batch, time)
    const needsIdentity = batch.some(mayReportLoss)
    const call = { key, needsIdentity, compose, read: leaseLedgerReply }
    const reply = await this.#options.servers.calls.run(call, deadlineAt)
    if (!reply) throw lateFailure()
    return reply.grants
  }

  #callOf(batch: readonly PlacedAsk[], time: TimeArg): ScriptCall {
    const { terms, servers } = this.#options
    const asks = batch.map(({ ask, names, requestedAt }) => {
      return { ask, reported: ask.known && servers.reports.reportOf(ask.known, names[0], requestedAt) }
    })
    const [key] = batch[0].names
    const server = servers.reports.numberOf(key)
    const { script, args } = leaseLedgerCall(asks, terms, time, server)
    const keys = [
      ...batch.flatMap(({ names }) => names),
      ...batch.flatMap(({ names: [cells] }) => reportKeysOf(cells, server)),
    ]
    return { script, keys, args }
  }
}

/** Whether the request contains usage that the server may have lost. */
function mayReportLoss({ ask }: PlacedAsk): boolean {
  return (ask.known?.used ?? 0) > 0
}
