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
} from '@sluice/fleet/backend'
import { messageOf, type Observers, SluiceError } from '@sluice/limiter-core/backend'
import { checkId } from '../counter-id.ts'
import { sluiceCodeOf } from '../error-code.ts'
import { unavailableError } from '../unavailable.ts'
import type { OwnerRing } from './owner-ring.ts'

/** Counters of several nodes. */
export interface OwnedCounters extends Counters {
  /** Names of the nodes that are skipped because they did not reply. */
  readonly down: readonly string[]
}

export interface RoutedCountersOptions {
  readonly nodes: ReadonlyMap<string, Counters>
  /** Name of this node; undefined for a client. */
  readonly self: string | undefined
  /** Whether an increment without a token receives one, so that it may be sent to a second node. */
  readonly generatesTokens: boolean
  readonly ring: OwnerRing
  readonly observers: Observers
}

/**
 * Sends calls for one id to its owner, or to the next node on the ring while the owner does not reply. Sends other
 * calls to this node; a client sends them to any node that replies.
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
    const receipt = await this.#callOwner(
      id,
      (owner, { isSelf, isFirst }) => owner.increment(id, delta, isSelf && isFirst ? options : sent),
      isRepeatable,
    )
    // a duplicate of the generated token was counted by an earlier attempt of this call
    return isOwn ? { ...receipt, counted: true } : receipt
  }

  async incrementMany(deltas: CounterDeltas, options: IncrementOptions = {}): Promise<BatchReceipt> {
    const local = this.#local
    if (local) return local.incrementMany(deltas, { ...options, durable: true })
    const { sent, isOwn, isRepeatable } = this.#tokenOf(options)
    const receipt = await this.#callAny((node) => node.incrementMany(deltas, { ...sent, durable: true }), isRepeatable)
    return isOwn ? { ...receipt, counted: true } : receipt
  }

  async read(id: string, options?: ReadOptions): Promise<CounterReading> {
    checkId(id)
    return this.#callOwner(id, (owner) => owner.read(id, options))
  }

  async readMany(prefix: string, options?: ReadManyOptions): Promise<readonly CounterReading[]> {
    await this.#flushNodes()
    return this.#callAny((node) => node.readMany(prefix, options))
  }

  async aggregate(prefix: string, kind?: 'sum'): Promise<number> {
    await this.#flushNodes()
    return this.#callAny((node) => node.aggregate(prefix, kind))
  }

  async reset(id: string): Promise<void> {
    checkId(id)
    await this.#callOwner(id, (owner) => owner.reset(id))
  }

  async delete(id: string): Promise<void> {
    checkId(id)
    await this.#callOwner(id, (owner) => owner.delete(id))
  }

  /** Flushes all nodes that reply. Rejects if this node cannot flush. */
  async flush(): Promise<void> {
    if (this.#local) await this.#flushNodes()
    else await this.#callAny((node) => node.flush())
  }

  /** Closes the counters of this node only; a client closes all of its connections. */
  async close(): Promise<void> {
    this.#isClosed = true
    const { nodes, self } = this.#options
    const own = [...nodes].filter(([name]) => self === undefined || name === self)
    const closed = await Promise.allSettled(own.map(([, node]) => node.close()))
    const failed = closed.filter((one) => one.status === 'rejected')
    // an unreachable node cannot flush, which matters only if all of them are unreachable
    const fatal = failed.find(({ reason }) => !isUnanswered(reason) || failed.length === own.length)
    if (fatal) throw fatal.reason
  }

  /** Counters of this node; undefined for a client. */
  get #local(): Counters | undefined {
    this.#checkOpen()
    const { nodes, self } = this.#options
    return self === undefined ? undefined : nodes.get(self)
  }

  /** Flushes all nodes that are up. Does nothing for a client, because the node that it calls does so. */
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

  /**
   * Returns the options to send to another node. An increment that may be sent to two nodes needs a token to count
   * once.
   */
  #tokenOf(options: IncrementOptions): {
    readonly sent: IncrementOptions
    readonly isOwn: boolean
    readonly isRepeatable: boolean
  } {
    const isOwn = options.token === undefined && this.#options.generatesTokens
    const sent = isOwn ? { ...options, token: randomUUID() } : options
    return { sent, isOwn, isRepeatable: sent.token !== undefined }
  }

  /** Calls the owner of an id, or the next node while owners do not reply. */
  async #callOwner<T>(
    id: string,
    call: (owner: Counters, attempt: { readonly isSelf: boolean; readonly isFirst: boolean }) => Promise<T>,
    isRepeatable = true,
  ): Promise<T> {
    const { self, ring } = this.#options
    let isFirst = true
    return this.#callUntilReply(
      () => ring.ownerOf(id) ?? self,
      (owner, name) => {
        const attempt = { isSelf: name === self, isFirst }
        isFirst = false
        return call(owner, attempt)
      },
      isRepeatable,
    )
  }

  /** Calls this node; a client calls the first node that replies. */
  #callAny<T>(call: (node: Counters) => Promise<T>, isRepeatable = true): Promise<T> {
    const { self, ring } = this.#options
    return this.#callUntilReply(() => self ?? ring.up[0], call, isRepeatable)
  }

  /** Calls one node after the other until one replies. An error of this node itself is final. */
  async #callUntilReply<T>(
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
    throw unavailableError(`counters: no node replied; unreachable: ${this.down.join(', ')}`)
  }

  /** Calls a node. Returns undefined if it does not reply and the next one may be called. */
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
    const message =
      self === undefined ? 'counterClient: this client is closed' : `counters of node '${self}' are closed`
    throw new SluiceError('SLUICE_COUNTERS_CLOSED', message)
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
