import type { Clock, LeaseAsk, LeaseGrant, LeaseLedger, LeaseTerms, ScriptRunner } from '@sluice/limiter-core'
import { timeArg } from './batch-call.ts'
import type { EntityKeys } from './entity-key.ts'
import { hashSlot } from './hash-slot.ts'
import { leaseLedgerCall, leaseLedgerReply } from './lease-ledger-call.ts'
import { failureOf, RedisFailure, reachedLate } from './redis-failure.ts'
import { ServerTime } from './server-time.ts'

export interface LeaseRedisOptions {
  readonly runner: ScriptRunner
  readonly clock: Clock
  readonly keys: EntityKeys
  readonly terms: LeaseTerms
  readonly serverTime: (() => number) | undefined
}

/** An ask, and where its cells and its leases are. */
interface Placed {
  readonly ask: LeaseAsk
  readonly names: readonly [string, string]
}

/** Asks of one script call: some 15 µs of the server each, and it serves nobody else meanwhile. */
const BATCH = 64

/** The ledger of leases in Redis: one script call for many asks, in a cluster one for each slot. */
export class LeaseRedisLedger implements LeaseLedger {
  readonly #options: LeaseRedisOptions
  readonly #times: ServerTime
  readonly #stopListening: (() => void) | undefined

  constructor(options: LeaseRedisOptions) {
    this.#options = options
    this.#times = new ServerTime(options.runner, options.clock)
    this.#stopListening = options.runner.interrupted?.(() => this.#times.forget())
  }

  async ask(asks: readonly LeaseAsk[], deadlineAt: number): Promise<readonly (LeaseGrant | Error)[]> {
    const answers = new Map<LeaseAsk, LeaseGrant | Error>()
    await Promise.all(
      this.#batches(asks).map(async (batch) => {
        const grants = await this.#send(batch, deadlineAt, false).catch(failureOf)
        for (const [index, { ask }] of batch.entries()) {
          answers.set(ask, grants instanceof RedisFailure ? grants : grants[index])
        }
      }),
    )
    return asks.map((ask) => answers.get(ask) as LeaseGrant | Error)
  }

  close(): void {
    this.#stopListening?.()
  }

  #batches(asks: readonly LeaseAsk[]): Placed[][] {
    const { runner, keys } = this.#options
    const bySlot = new Map<number, Placed[][]>()
    for (const ask of asks) {
      const name = keys.nameOfCells(ask)
      const slot = runner.clustered ? hashSlot(name) : 0
      const batches = bySlot.get(slot) ?? []
      bySlot.set(slot, batches)
      const last = batches.at(-1)
      const placed: Placed = { ask, names: [name, `${name}:leases`] }
      if (last && last.length < BATCH) last.push(placed)
      else batches.push([placed])
    }
    return [...bySlot.values()].flat()
  }

  async #send(batch: readonly Placed[], deadlineAt: number, again: boolean): Promise<readonly (LeaseGrant | Error)[]> {
    const { runner, clock, terms, serverTime } = this.#options
    const [key] = batch[0].names
    if (!serverTime && this.#times.deadline(key, 0) === undefined) await this.#times.ask(key)
    const sentAt = clock.now()
    if (sentAt > deadlineAt) throw reachedLate()
    const deadline = serverTime ? undefined : this.#times.deadline(key, deadlineAt)
    const asks = batch.map(({ ask }) => ask)
    const { script, args } = leaseLedgerCall(asks, terms, timeArg(deadline, serverTime?.()))
    const names = batch.flatMap((placed) => placed.names)
    const { now, grants } = leaseLedgerReply(await runner.run(script, names, args, { deadlineAt }))
    if (!serverTime) this.#times.told(key, now, sentAt)
    if (grants) return grants
    // the reply has told the right time of the server
    if (again) throw reachedLate()
    return this.#send(batch, deadlineAt, true)
  }
}
