import type { Clock, LeaseAsk, LeaseGrant, LeaseLedger, LeaseTerms, ScriptRunner } from '@sluice/limiter-core'
import type { EntityKeys } from './entity-key.ts'
import { CROSSSLOT } from './given-runner.ts'
import { hashSlot } from './hash-slot.ts'
import type { KnownServers } from './known-servers.ts'
import { leaseLedgerCall, leaseLedgerReply } from './lease-ledger-call.ts'
import { RedisFailure, reachedLate } from './redis-failure.ts'

export interface LeaseRedisOptions {
  readonly runner: ScriptRunner
  readonly clock: Clock
  readonly keys: EntityKeys
  readonly terms: LeaseTerms
  readonly servers: KnownServers
}

/** An ask, and where its cells and its leases are. */
interface Placed {
  readonly ask: LeaseAsk
  readonly names: readonly [string, string]
  /** By the process clock. */
  readonly askedAt: number
}

/** Asks of one script call: some 15 µs of the server each, and it serves nobody else meanwhile. */
const BATCH = 64

/** The ledger of leases in Redis: one script call for many asks, in a cluster one for each slot. */
export class LeaseRedisLedger implements LeaseLedger {
  readonly #options: LeaseRedisOptions

  constructor(options: LeaseRedisOptions) {
    this.#options = options
  }

  ask(asks: readonly LeaseAsk[], deadlineAt: number): Promise<readonly (LeaseGrant | Error)[]> {
    return this.#ask(asks, deadlineAt, false)
  }

  async #ask(asks: readonly LeaseAsk[], deadlineAt: number, again: boolean): Promise<readonly (LeaseGrant | Error)[]> {
    const answers = new Map<LeaseAsk, LeaseGrant | Error>()
    await Promise.all(
      this.#batches(asks).map(async (batch) => {
        const [{ names }] = batch
        const failed = (error: unknown): RedisFailure => this.#options.servers.telling.failed(names[0], error)
        let grants = await this.#send(batch, deadlineAt, false).catch(failed)
        if (grants instanceof RedisFailure && grants.code === CROSSSLOT && !again) {
          const one = batch.map(({ ask }) => ask)
          grants = await this.#ask(one, deadlineAt, true)
        }
        for (const [index, { ask }] of batch.entries()) {
          answers.set(ask, grants instanceof RedisFailure ? grants : grants[index])
        }
      }),
    )
    return asks.map((ask) => answers.get(ask) as LeaseGrant | Error)
  }

  mayHaveLost(target: Pick<LeaseAsk, 'key' | 'step' | 'count'>, ageMs: number): boolean {
    return this.#options.servers.telling.mayHaveLost(this.#options.keys.nameOfCells(target), ageMs)
  }

  close(): void {
    this.#options.servers.close()
  }

  #batches(asks: readonly LeaseAsk[]): Placed[][] {
    const { runner, keys, clock } = this.#options
    const askedAt = clock.now()
    const bySlot = new Map<number, Placed[][]>()
    for (const ask of asks) {
      const name = keys.nameOfCells(ask)
      const slot = runner.clustered ? hashSlot(name) : 0
      const batches = bySlot.get(slot) ?? []
      bySlot.set(slot, batches)
      const last = batches.at(-1)
      const placed: Placed = { ask, names: [name, `${name}:leases`], askedAt }
      if (last && last.length < BATCH) last.push(placed)
      else batches.push([placed])
    }
    return [...bySlot.values()].flat()
  }

  async #send(batch: readonly Placed[], deadlineAt: number, again: boolean): Promise<readonly (LeaseGrant | Error)[]> {
    const { runner, clock, terms, servers } = this.#options
    const [key] = batch[0].names
    await servers.knowTime(key)
    if (batch.some(tellsOfLoss)) await servers.knowIdentity(key)
    const sentAt = clock.now()
    if (sentAt > deadlineAt) throw reachedLate()
    const time = servers.time(key, deadlineAt)
    const asks = batch.map(({ ask, names, askedAt }) => {
      return { ask, told: ask.known && servers.telling.told(ask.known, names[0], askedAt) }
    })
    const { script, args } = leaseLedgerCall(asks, terms, time, servers.telling.numberOf(key))
    const names = batch.flatMap((placed) => placed.names)
    const { now, grants } = leaseLedgerReply(await runner.run(script, names, args, { deadlineAt }))
    servers.told(key, now, sentAt)
    if (grants) return grants
    // the reply has told the right time of the server
    if (again) throw reachedLate()
    return this.#send(batch, deadlineAt, true)
  }
}

function tellsOfLoss({ ask }: Placed): boolean {
  return (ask.known?.used ?? 0) > 0
}
