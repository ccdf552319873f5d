import { randomUUID } from 'node:crypto'
import type {
  BatchReceipt,
  CounterDeltas,
  CounterReading,
  CounterReceipt,
  Counters,
  IncrementOptions,
  ReadManyOptions,
  ReadOptions,
} from '@sluice/limiter-core'
import { messageOf, type Observers, SluiceError } from '@sluice/limiter-core/backend'
import { checkId } from '../counter-id.ts'
import { sluiceCodeOf } from '../error-code.ts'
import { unanswered } from '../unanswered.ts'
import type { OwnerRing } from './owner-ring.ts'

/** `Counters` of several nodes, with the names of those that are left out. */
export interface OwnedCounters extends Counters {
  readonly down: readonly string[]
}

export interface RoutedCountersOptions {
  readonly nodes: ReadonlyMap<string, Counters>
  /** The node that this one is; undefined for a client, which is none. */
  readonly self: string | undefined
  /** Whether an increment without a token is given one, so that it may be sent to a second node. */
  readonly givesTokens: boolean
  readonly ring: OwnerRing
  readonly observers: Observers
}

/**
 * Counters of several nodes: what has one id goes to its owner, and while owners give no answer to the next node on the
 * ring; the rest to this node, or to any that answers.
 */
export class RoutedCounters implements OwnedCounters {
  readonly #options: RoutedCountersOptions
  #isClosed = false

  constructor(options: RoutedCountersOptions) {
    this.#options = options
  }

  get down(): readonly string[] {
    return this.#options.ring.down
  }

  async increment(id: string, delta = 1, options: IncrementOptions = {}): Promise<CounterReceipt> {
    checkId(id)
    const { sent, isOwn, isRepeatable } = this.#tokenOf(options)
    const receipt = await this.#askOwner(
      id,
      (owner, { isSelf, isFirst }) => owner.increment(id, delta, isSelf && isFirst ? options : sent),
      isRepeatable,
    )
    // a token of ours that counted at the first node counted for this caller
    return isOwn ? { ...receipt, counted: true } : receipt
  }

  async incrementMany(deltas: CounterDeltas, options: IncrementOptions = {}): Promise<BatchReceipt> {
    const local = this.#local
    if (local) return local.incrementMany(deltas, { ...options, durable: true })
    const { sent, isOwn, isRepeatable } = this.#tokenOf(options)
    const receipt = await this.#askAny((node) => node.incrementMany(deltas, { ...sent, durable: true }), isRepeatable)
    return isOwn ? { ...receipt, counted: true } : receipt
  }

  async read(id: string, options?: ReadOptions): Promise<CounterReading> {
    checkId(id)
    return this.#askOwner(id, (owner) => owner.read(id, options))
  }

  async readMany(prefix: string, options?: ReadManyOptions): Promise<readonly CounterReading[]> {
    await this.#flushNodes()
    return this.#askAny((node) => node.readMany(prefix, options))
  }

  async aggregate(prefix: string, kind?: 'sum'): Promise<number> {
    await this.#flushNodes()
    return this.#askAny((node) => node.aggregate(prefix, kind))
  }

  async reset(id: string): Promise<void> {
    checkId(id)
    await this.#askOwner(id, (owner) => owner.reset(id))
  }

  async delete(id: string): Promise<void> {
    checkId(id)
    await this.#askOwner(id, (owner) => owner.delete(id))
  }

  /** Of all nodes that answer; rejects where this one cannot. */
  async flush(): Promise<void> {
    if (this.#local) await this.#flushNodes()
    else await this.#askAny((node) => node.flush())
  }

  /** Of this node alone; of a client, all of its connections. */
  async close(): Promise<void> {
    this.#isClosed = true
    const { nodes, self } = this.#options
    const own = [...nodes].filter(([name]) => self === undefined || name === self)
    const closed = await Promise.allSettled(own.map(([, node]) => node.close()))
    const failed = closed.filter((one) => one.status === 'rejected')
    // a node that is gone flushes nothing, and the others have flushed
    const grave = failed.find(({ reason }) => !isUnanswered(reason) || failed.length === own.length)
    if (grave) throw grave.reason
  }

  /** What this node counts itself. */
  get #local(): Counters | undefined {
    this.#checkOpen()
    const { nodes, self } = this.#options
    return self === undefined ? undefined : nodes.get(self)
  }

  /** Has the ledger all that was counted: of a client, the node that it asks does so. */
  async #flushNodes(): Promise<void> {
    this.#checkOpen()
    const { self, nodes, ring } = this.#options
    if (self === undefined) return
    const flushed = ring.up.map(async (name) => {
      await nodes
        .get(name)
        ?.flush()
        .catch((error: unknown) => {
          if (name === self || !isUnanswered(error)) throw error
          this.#leaveOut(name, error)
        })
    })
    await Promise.all(flushed)
  }

  /** Of a unit that may be sent to two nodes only a token tells that it is one. */
  #tokenOf(options: IncrementOptions): {
    readonly sent: IncrementOptions
    readonly isOwn: boolean
    readonly isRepeatable: boolean
  } {
    const isOwn = options.token === undefined && this.#options.givesTokens
    const sent = isOwn ? { ...options, token: randomUUID() } : options
    return { sent, isOwn, isRepeatable: sent.token !== undefined }
  }

  /** What the owner answers, or the next one while owners give no answer. */
  async #askOwner<T>(
    id: string,
    call: (owner: Counters, attempt: { readonly isSelf: boolean; readonly isFirst: boolean }) => Promise<T>,
    isRepeatable = true,
  ): Promise<T> {
    const { self, ring } = this.#options
    let isFirst = true
    return this.#ask(
      () => ring.ownerOf(id) ?? self,
      (owner, name) => {
        const attempt = { isSelf: name === self, isFirst }
        isFirst = false
        return call(owner, attempt)
      },
      isRepeatable,
    )
  }

  /** This node, or for a client the first one that answers. */
  #askAny<T>(call: (node: Counters) => Promise<T>, isRepeatable = true): Promise<T> {
    const { self, ring } = this.#options
    return this.#ask(() => self ?? ring.up[0], call, isRepeatable)
  }

  /** This node answers for itself, whatever it says. */
  async #ask<T>(
    nextName: () => string | undefined,
    call: (node: Counters, name: string) => Promise<T>,
    isRepeatable: boolean,
  ): Promise<T> {
    this.#checkOpen()
    const { nodes } = this.#options
    for (let tries = 0; tries < nodes.size; tries++) {
      const name = nextName() ?? ''
      const node = nodes.get(name)
      if (!node) break
      const attempt = await this.#attempt(name, () => call(node, name), isRepeatable)
      if (attempt) return attempt.answer
    }
    throw unanswered(`no node of the counters gave an answer: ${this.down.join(', ')}`)
  }

  /** Undefined where the node gave no answer, and the next one may be asked. */
  async #attempt<T>(
    name: string,
    call: () => Promise<T>,
    isRepeatable: boolean,
  ): Promise<{ readonly answer: T } | undefined> {
    try {
      return { answer: await call() }
    } catch (error) {
      if (name === this.#options.self || !isUnanswered(error)) throw error
      this.#leaveOut(name, error)
      if (!isRepeatable) throw error
      return undefined
    }
  }

  #checkOpen(): void {
    if (!this.#isClosed) return
    const { self } = this.#options
    const whose = self === undefined ? 'this client of counters is' : `counters of node '${self}' are`
    throw new SluiceError('SLUICE_COUNTERS_CLOSED', `${whose} closed`)
  }

  #leaveOut(node: string, error: unknown): void {
    this.#options.ring.markDown(node)
    this.#options.observers.event('backendFailed', { backend: 'counters', node, reason: messageOf(error) })
  }
}

function isUnanswered(error: unknown): boolean {
  const code = sluiceCodeOf(error)
  return code === 'SLUICE_COUNTERS_UNAVAILABLE' || code === 'SLUICE_COUNTERS_CLOSED'
}
