import type { Clock, LeaseAsk, LeaseGrant, LeaseLedger, LeaseTerms, ScriptRunner } from '@sluice/limiter-core'
import { timeArg } from './batch-call.ts'
import type { EntityKeys } from './entity-key.ts'
import { hashSlot } from './hash-slot.ts'
import { leaseLedgerCall, leaseLedgerReply } from './lease-ledger-call.ts'
import { RedisFailure, reachedLate } from './redis-failure.ts'
import { ServerTime } from './server-time.ts'
import { KnownTelling } from './told-known.ts'

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
  /** By the process clock. */
  readonly askedAt: number
}

/** Asks of one script call: some 15 µs of the server each, and it serves nobody else meanwhile. */
const BATCH = 64

/** The ledger of leases in Redis: one script call for many asks, in a cluster one for each slot. */
export class LeaseRedisLedger implements LeaseLedger {
  readonly #options: LeaseRedisOptions
  readonly #times: ServerTime
  readonly #telling: KnownTelling
  readonly #stopListening: (() => void) | undefined

  constructor(options: LeaseRedisOptions) {
    this.#options = options
    this.#times = new ServerTime(options.runner, options.clock)
    this.#telling = new KnownTelling(this.#times, options.clock, options.serverTime)
    this.#stopListening = options.runner.interrupted?.((_, server) => this.#times.forget(server))
  }

  async ask(asks: readonly LeaseAsk[], deadlineAt: number): Promise<readonly (LeaseGrant | Error)[]> {
    const answers = new Map<LeaseAsk, LeaseGrant | Error>()
    await Promise.all(
      this.#batches(asks).map(async (batch) => {
        const [{ names }] = batch
        const failed = (error: unknown): RedisFailure => this.#telling.failed(names[0], error)
        const grants = await this.#send(batch, deadlineAt, false).catch(failed)
        for (const [index, { ask }] of batch.entries()) {
          answers.set(ask, grants instanceof RedisFailure ? grants : grants[index])
        }
      }),
    )
    return asks.map((ask) => answers.get(ask) as LeaseGrant | Error)
  }

  mayHaveLost(target: Pick<LeaseAsk, 'key' | 'step' | 'count'>, ageMs: number): boolean {
    return this.#telling.mayHaveLost(this.#options.keys.nameOfCells(target), ageMs)
  }

  close(): void {
    this.#stopListening?.()
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
    const { runner, clock, terms, serverTime } = this.#options
    const [key] = batch[0].names
    const lacksTime = !serverTime && this.#times.deadline(key, 0) === undefined
    if (lacksTime || (this.#telling.isInDoubt(key) && batch.some(tellsOfLoss))) await this.#times.ask(key)
    const sentAt = clock.now()
    if (sentAt > deadlineAt) throw reachedLate()
    const deadline = serverTime ? undefined : this.#times.deadline(key, deadlineAt)
    const asks = batch.map(({ ask, names, askedAt }) => {
      return { ask, told: ask.known && this.#telling.told(ask.known, names[0], askedAt) }
    })
    const time = timeArg(deadline, serverTime?.())
    const { script, args } = leaseLedgerCall(asks, terms, time, this.#telling.numberOf(key))
    const names = batch.flatMap((placed) => placed.names)
    const { now, grants } = leaseLedgerReply(await runner.run(script, names, args, { deadlineAt }))
    if (!serverTime) this.#times.told(key, now, sentAt)
    if (grants) return grants
    // the reply has told the right time of the server
    if (again) throw reachedLate()
    return this.#send(batch, deadlineAt, true)
  }
}

function tellsOfLoss({ ask }: Placed): boolean {
  return (ask.known?.used ?? 0) > 0
}
