import {
  afterThisTurn,
  type Clock,
  type CountedKey,
  causeOf,
  KEEP_ALIVE,
  messageOf,
  type Observers,
} from '@sluice/limiter-core/backend'
import { settledWithin } from '../backend/settled-within.ts'
import type { LedgerHealth } from './ledger-health.ts'
import type { Outbox } from './outbox.ts'
import type { PendingUsage } from './pending-usage.ts'
import type { SyncAnswer, SyncBatch, SyncLedger } from './sync-ledger.ts'
import type { SyncMetrics } from './sync-metrics.ts'
import { SyncPartition } from './sync-partition.ts'
import { SyncSchedule } from './sync-schedule.ts'
import type { SyncTerms } from './sync-terms.ts'

/** Milliseconds after which an unanswered exchange is sent again. Repeating is safe, because batches are numbered. */
const TIMEOUT_MS = 250
/** Maximum number of keys per call. A longer script would block other clients of the server. */
const MAX_KEYS_PER_CALL = 500
/** Maximum number of keys whose calls are prepared in one turn (about 3 ms), and of urgent keys per early exchange. */
const MAX_KEYS_PER_TURN = 500
/** Maximum number of keys in a reply that is applied in the same turn in which it arrives. */
const MAX_KEYS_AT_ONCE = 100
/** Maximum number of keys that are sent from the start of one tick to the start of the next. */
const MAX_KEYS_PER_TICK = 20_000

export interface SyncExchangeDeps {
  readonly name: string
  readonly ledger: SyncLedger
  readonly terms: SyncTerms
  readonly clock: Clock
  /** Source of random tick times. */
  readonly random?: (() => number) | undefined
  readonly observers: Observers
  readonly outbox: Outbox
  readonly metrics: SyncMetrics
  /** Called before a batch is sent, for the first time or again. */
  readonly sending: (batch: SyncBatch) => void
  /** Called with the reply to a batch that was sent at `requestedAt`. */
  readonly answered: (batch: SyncBatch, answer: SyncAnswer, requestedAt: number) => void
  readonly health: LedgerHealth
}

/**
 * Reports the units that this process took, and receives the counts of all processes. Each tick sends all pending
 * reports; urgent keys are sent shortly after they become urgent. At most one call per partition is pending. There are
 * no ticks while there is nothing to report.
 */
export class SyncExchange {
  /** Number of processes that report to the ledger; undefined if the ledger does not provide it. */
  nodes: number | undefined
  readonly #deps: SyncExchangeDeps
  readonly #partitions: SyncPartition[]
  readonly #underWay = new Set<Promise<void>>()
  readonly #schedule: SyncSchedule
  /** Number of keys that were sent since the last tick began. */
  #keysThisTick = 0
  #lastTurn: Promise<void> = Promise.resolve()
  #cancelAgain: (() => void) | undefined
  #isClosed = false

  constructor(deps: SyncExchangeDeps) {
    const { ledger, terms, clock, random = Math.random } = deps
    this.#deps = deps
    const tick = (): void => this.#tick()
    const sendUrgent = (): void => this.#sendUrgent()
    this.#schedule = new SyncSchedule({ terms, clock, random, tick, sendUrgent })
    this.#partitions = Array.from({ length: ledger.partitions }, (_, index) => new SyncPartition(index))
  }

  /** Whether no batch of a partition waits for a reply. */
  isFree(partition: number): boolean {
    return this.#partitions[partition].isFree
  }

  /** Schedules the next tick, unless one is scheduled. */
  wake(): void {
    this.#schedule.wake()
  }

  /** Schedules an early exchange of the urgent keys. While the ledger is down, the next tick is early enough. */
  scheduleUrgent(): void {
    if (!this.#deps.health.isDown) this.#schedule.scheduleUrgent()
  }

  /**
   * Drops unanswered reports of these keys. Resolves when the reports that were sent have been counted or can no longer
   * be counted. Does not wait for other keys, whose exchanges may never end.
   */
  async recall(keys: readonly CountedKey[]): Promise<void> {
    const partitions = keys.map(({ key }) => this.#partitions[this.#deps.ledger.partitionOf(key)])
    for (const [index, partition] of partitions.entries()) partition.drop(keys[index])
    await Promise.all(partitions.map(({ attempt }) => attempt))
  }

  /** Resolves when everything sent has been answered or has failed. */
  async #settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }

  /** Sends the remaining reports for at most `closeMs`; resolves with the number of unreported units. */
  async close(): Promise<number> {
    const { clock, terms, outbox } = this.#deps
    this.#schedule.end()
    await settledWithin(this.#flush(), terms.closeMs, clock)
    this.#isClosed = true
    this.#deps.health.close()
    this.#cancelAgain?.()
    return this.#partitions.reduce((sum, partition) => sum + partition.units, outbox.clear())
  }

  async #flush(): Promise<void> {
    await this.#settled()
    while (!this.#isClosed && (this.#deps.outbox.size > 0 || this.#partitions.some((one) => !one.isFree))) {
      this.#keysThisTick = 0
      this.#send(this.#takeAll())
      await this.#settled()
      if (this.#deps.health.isImpaired && !this.#isClosed) await this.#gap()
    }
  }

  /** Waits before the next attempt, so that a server whose calls fail immediately is not called in a tight loop. */
  #gap(): Promise<void> {
    const { clock, terms } = this.#deps
    return new Promise((resolve) => {
      this.#cancelAgain = clock.after(terms.gapMs, resolve, KEEP_ALIVE)
    })
  }

  #tick(): void {
    const { clock, metrics, outbox } = this.#deps
    const startedAt = clock.now()
    this.#keysThisTick = 0
    this.#send(this.#takeAll())
    metrics.deferred.set(outbox.size)
    metrics.tickMs.observe(clock.now() - startedAt)
    void this.#countNodes()
    // reports that wait for a reply of their partition continue at the next tick
    if (this.#underWay.size === 0) this.#tickAgain()
  }

  #tickAgain(): void {
    if (this.#deps.outbox.size > 0) this.#schedule.tickAgain()
  }

  #takeAll(): readonly PendingUsage[] {
    return this.#deps.outbox.take(MAX_KEYS_PER_TICK, this.#accepting())
  }

  /**
   * Sends urgent reports. Reports for a partition with a pending call wait for its reply; reports for a failing server
   * wait for the next tick.
   */
  #sendUrgent(): void {
    const { outbox, health } = this.#deps
    const left = MAX_KEYS_PER_TICK - this.#keysThisTick
    if (left <= 0) return
    const accepts = this.#accepting()
    const canSend = (partition: number): boolean => !health.isFailing(partition) && accepts(partition)
    this.#send(outbox.takeUrgent(Math.min(left, MAX_KEYS_PER_TURN), canSend))
  }

  /** Returns a filter that accepts keys while their partition's batch has room. */
  #accepting(): (partition: number) => boolean {
    const room = this.#partitions.map(({ isFree }) => (isFree ? MAX_KEYS_PER_CALL : 0))
    let left = MAX_KEYS_PER_TICK - this.#keysThisTick
    return (partition) => {
      if (left <= 0 || room[partition] === 0) return false
      left--
      room[partition]--
      return true
    }
  }

  /** Sends batches with these reports, and resends unanswered batches. */
  #send(taken: readonly PendingUsage[]): void {
    const byPartition = new Map<number, PendingUsage[]>()
    for (const usage of taken) {
      const usages = byPartition.get(usage.partition)
      if (usages) usages.push(usage)
      else byPartition.set(usage.partition, [usage])
    }
    const again = this.#partitions.flatMap((partition) => partition.unanswered ?? [])
    const batches = [...byPartition].map(([index, usages]) => this.#partitions[index].begin(usages))
    if (again.length + batches.length === 0) return
    const now = this.#deps.clock.now()
    this.#schedule.sent(now)
    let keys = 0
    for (const batch of [...again, ...batches]) {
      this.#partitions[batch.partition].sent()
      this.#deps.health.awaitReply(batch.partition)
      this.#track(batch, this.#exchangeAfter(Math.floor(keys / MAX_KEYS_PER_TURN), batch, now))
      keys += batch.takes.length
    }
    this.#keysThisTick += keys
  }

  /** Yields to the event loop, so that replies that arrive together are applied in separate turns. */
  async #ownTurn(): Promise<void> {
    const before = this.#lastTurn
    const turn = before.then(() => new Promise<void>((resolve) => afterThisTurn(resolve)))
    this.#lastTurn = turn
    await turn
  }

  /** Sends a batch after this number of turns of the event loop, so that many keys do not block it. */
  async #exchangeAfter(turns: number, batch: SyncBatch, requestedAt: number): Promise<void> {
    for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => afterThisTurn(resolve))
    // `close` has already reported the units of the batch as dropped
    if (this.#isClosed) return
    this.#partitions[batch.partition].forget(requestedAt)
    this.#deps.sending(batch)
    await this.#exchange(batch, requestedAt)
  }

  async #exchange(batch: SyncBatch, requestedAt: number): Promise<void> {
    const { clock, metrics } = this.#deps
    const partition = this.#partitions[batch.partition]
    metrics.commands.add(1)
    metrics.pipelineSize.observe(batch.takes.length)
    try {
      const answer = await this.#deps.ledger.exchange(batch, clock.now() + TIMEOUT_MS)
      if (batch.takes.length > MAX_KEYS_AT_ONCE) await this.#ownTurn()
      if (answer.lost) partition.refused()
      else partition.answered()
      metrics.reportedKeys.add(answer.lost ? 0 : batch.takes.length)
      metrics.pipelineMs.observe(clock.now() - requestedAt)
      this.#answered(batch.partition)
      this.#deps.answered(batch, answer, requestedAt)
      if (answer.lost) this.wake()
      if (answer.lost || this.#deps.outbox.hasUrgent) this.scheduleUrgent()
      this.#tickAgain()
    } catch (error) {
      partition.failed()
      this.#failed(batch.partition, error)
      this.wake()
    }
  }

  async #countNodes(): Promise<void> {
    const { ledger, clock, health } = this.#deps
    if (!ledger.nodes || health.isDown) return
    try {
      this.nodes = (await ledger.nodes(clock.now() + TIMEOUT_MS)) ?? this.nodes
    } catch {
      // the next tick retries
    }
  }

  #track({ partition }: SyncBatch, exchange: Promise<void>): void {
    const tracked = exchange.finally(() => this.#underWay.delete(tracked))
    this.#underWay.add(tracked)
    this.#partitions[partition].attempt = tracked
  }

  #answered(partition: number): void {
    const { observers, name, health } = this.#deps
    if (health.answered(partition)) observers.event('sync', { topic: name, failed: false })
  }

  #failed(partition: number, error: unknown): void {
    const { observers, name, metrics, health } = this.#deps
    const code = (error as { code?: unknown } | undefined)?.code ?? messageOf(error)
    metrics.errors.add(1, 'pipeline', causeOf(error))
    // reported once per outage and not once per tick
    if (health.failed(partition)) observers.event('sync', { topic: name, failed: code })
  }
}
