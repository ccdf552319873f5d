import type { CounterReading } from '@sluice/fleet/backend'
import { TurnBatch } from '@sluice/fleet/backend'
import type { Clock } from '@sluice/limiter-core/backend'
import type { CounterTable } from '../ledger/counter-ledger.ts'
import type { Owed } from '../metrics/owed-metrics.ts'
import { unavailableError, withTimeout } from '../unavailable.ts'
import type { ClosedBatch, CountAnswer, CountOutcome, CountRequest, PartitionScripts } from './partition-scripts.ts'

/** Result of a count request. */
export interface CountResult {
  readonly outcome: Exclude<CountOutcome, 'missing'>
  readonly readings: ReadonlyMap<string, CounterReading>
}

interface PendingCount {
  readonly request: CountRequest
  readonly resolve: (counted: CountResult) => void
  readonly reject: (error: unknown) => void
}

export interface RedisPartitionOptions {
  readonly scripts: PartitionScripts
  readonly table: CounterTable
  /** Time for which a process that hands a batch over is not disturbed by others, in ms. */
  readonly heldMs: number
  readonly clock: Clock
  /** Timeout of a request for Redis and the ledger together, in ms. */
  readonly waitMs: number
}

/** Maximum attempts of a call, which needs several to read totals, finish blocking batches and meet other processes. */
const MAX_TRIES = 20

/** Number of outdated reads in one call after which the ledger is assumed to have lost the number of the epoch. */
const LATE_READS = 5

/** A partition of the counters: counts in Redis and hands pending units over to the ledger. */
export class RedisPartition {
  readonly #options: RedisPartitionOptions
  readonly #requests: TurnBatch<PendingCount>
  /** The current epoch, as last reported by Redis. */
  #epoch = ''
  #handingOver: Promise<void> | undefined
  #nextHandOver: Promise<void> | undefined
  /** Ids whose totals are read next. */
  readonly #stale = new Set<string>()
  #refreshing: Promise<void> = Promise.resolve()
  #nextRefresh: Promise<void> | undefined

  constructor(options: RedisPartitionOptions) {
    this.#options = options
    this.#requests = new TurnBatch((batch) => void this.#count(batch.take()))
  }

  /** Counts a request. Requests of the same event loop turn share one call. */
  count(request: CountRequest): Promise<CountResult> {
    return new Promise((resolve, reject) => this.#requests.add({ request, resolve, reject }))
  }

  /** Hands pending units over, unless this or another process is already doing so. */
  async handOver(): Promise<void> {
    await (this.#handingOver ?? this.#start(false))
  }

  /** Resolves when the ledger has all units counted before the call, whichever process hands them over. */
  flush(): Promise<void> {
    if (!this.#handingOver) return this.#start(true)
    // the current hand-over may have closed its batch before the last unit was counted
    this.#nextHandOver ??= this.#handingOver
      .catch(() => {})
      .then(() => {
        this.#nextHandOver = undefined
        return this.#start(true)
      })
    return this.#nextHandOver
  }

  /** Reads totals again from the ledger. Requests during a read are combined into the next read. */
  refresh(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#stale.add(id)
    this.#nextRefresh ??= this.#refreshing.then(() => {
      const all = [...this.#stale]
      this.#stale.clear()
      this.#nextRefresh = undefined
      const refreshed = this.#refresh(all)
      this.#refreshing = refreshed.catch(() => {})
      return refreshed
    })
    return this.#nextRefresh
  }

  /** Sets a counter to 0 and drops its pending units. */
  async clear(id: string, options: { readonly deleted: boolean }): Promise<void> {
    const { scripts, table } = this.#options
    await this.flush()
    await table.clear(id, options)
    await this.#untilDone(async () => {
      const isDone = await scripts.clear(id)
      if (!isDone) await this.flush()
      return isDone
    })
  }

  owed(): Promise<Owed> {
    return this.#options.scripts.owed()
  }

  async #refresh(ids: readonly string[]): Promise<void> {
    const { scripts, table } = this.#options
    let older = 0
    await this.#untilDone(async () => {
      const epoch = this.#epoch
      const { entries, number } = await table.read(ids, epoch)
      const answer = await scripts.seed({ epoch, number }, entries)
      if (answer === 'seeded') return true
      if (answer === 'unfinished') await this.flush()
      else if (answer.epoch !== epoch) this.#epoch = answer.epoch
      // the first few times, a batch has probably been finished since the read
      else if (++older > LATE_READS) this.#epoch = await scripts.renew(epoch)
      return false
    })
  }

  #start(isUrgent: boolean): Promise<void> {
    this.#handingOver = this.#handOver(isUrgent).finally(() => {
      this.#handingOver = undefined
    })
    return this.#handingOver
  }

  async #handOver(isUrgent: boolean): Promise<void> {
    const { scripts, heldMs } = this.#options
    await this.#untilDone(async () => {
      const closed = await scripts.close({ heldMs, isUrgent })
      if (closed === 'none' || closed === 'busy') return true
      await this.#apply(closed)
      return closed.isFresh
    })
  }

  async #apply(batch: ClosedBatch): Promise<void> {
    const { scripts, table } = this.#options
    const { epoch, number, ageMs, amounts } = batch
    const deltas = Array.from(amounts, ([id, amount]) => ({ id, amount, ageMs }))
    const applied = await table.apply({ writer: epoch, number, deltas, groups: [] })
    await scripts.finish(batch, applied.entries)
  }

  async #count(pending: readonly PendingCount[]): Promise<void> {
    const { scripts, clock, waitMs } = this.#options
    const late = (): Error => unavailableError(`counters: Redis and the ledger did not reply within ${waitMs} ms`)
    const endsAt = clock.now() + waitMs
    let left = pending
    const done = this.#untilDone(async () => {
      if (clock.now() >= endsAt) throw late()
      const answer = await scripts.count(left.map(({ request }) => request))
      if (answer) left = await this.#settled(left, answer)
      else await this.flush()
      return left.length === 0
    })
    try {
      await withTimeout(done, { clock, waitMs, late })
    } catch (error) {
      for (const { reject } of left) reject(error)
    }
  }

  /** Resolves decided requests. Reads the totals that the other requests lacked, and returns these requests. */
  async #settled(
    pending: readonly PendingCount[],
    { epoch, outcomes, readings }: CountAnswer,
  ): Promise<readonly PendingCount[]> {
    this.#epoch = epoch
    const missing = pending.filter((_, index) => outcomes[index] === 'missing')
    for (const [index, { request, resolve }] of pending.entries()) {
      const outcome = outcomes[index]
      if (outcome === 'missing') continue
      const own = Array.from(request.keys(), (id) => readings.get(id) ?? [])
      resolve({ outcome, readings: new Map(own.flat().map((reading) => [reading.id, reading])) })
    }
    const unknown = new Set(missing.flatMap(({ request }) => [...request.keys()].filter((id) => !readings.has(id))))
    if (unknown.size > 0) {
      await this.refresh([...unknown]).catch((error: unknown) => {
        for (const { reject } of missing) reject(error)
        throw error
      })
    }
    return missing
  }

  async #untilDone(step: () => Promise<boolean>): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries++) if (await step()) return
    throw unavailableError(
      `counters: Redis and the ledger did not reach the same state in ${MAX_TRIES} attempts; try again`,
    )
  }
}
