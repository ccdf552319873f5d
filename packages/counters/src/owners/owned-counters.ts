import { randomUUID } from 'node:crypto'
import type {
  BatchReceipt,
  Clock,
  CounterDeltas,
  CounterReading,
  CounterReceipt,
  Counters,
  IncrementOptions,
  Observer,
  ReadManyOptions,
  ReadOptions,
} from '@sluice/limiter-core'
import {
  badOption,
  clockOf,
  type Duration,
  messageOf,
  Observers,
  optionsOf,
  parseTimerMs,
  SluiceError,
} from '@sluice/limiter-core/backend'
import { checkId } from '../counter-id.ts'
import { unanswered } from '../unanswered.ts'
import { OwnerRing } from './owner-ring.ts'

export interface OwnedCountersOptions {
  /** The name of this node. */
  readonly self: string
  /** What this node counts. All nodes have one ledger; `expireMs: '1s'` bounds how old a total is that another node wrote. */
  readonly local: Counters
  /** The other nodes by name, mostly made by `counterClient`: what they count themselves, and not what they forward. */
  readonly peers: Readonly<Record<string, Counters>>
  /** How long a node that gave no answer is left out. Default: 2 s. */
  readonly downMs?: Duration | undefined
  readonly clock?: Partial<Clock> | undefined
  /** They hear `backendFailed` with the `node` that gave no answer. */
  readonly observers?: readonly Observer[] | undefined
}

/** `Counters` of several nodes, with the names of those that are left out. */
export interface OwnedCounters extends Counters {
  readonly down: readonly string[]
}

const OPTIONS = ['self', 'local', 'peers', 'downMs', 'clock', 'observers'] as const

/**
 * Counters of which each id has one owner among the nodes, by consistent hashing of their names (100 virtual nodes each):
 * what this node does not own it asks of the owner, in one hop. So a value is that of the one node that has all units, the
 * unflushed ones too. An owner that gives no answer is left out for `downMs`; its ids belong to the next node meanwhile. An
 * increment that was sent on counts once: it has a token, and all nodes have one ledger.
 *
 * Batches, and sums after all nodes flushed, are made by this node in the ledger. A sum lacks what a node that is down has
 * not flushed: `down` names it.
 *
 * Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`.
 */
export function ownedCounters(options: OwnedCountersOptions): OwnedCounters {
  const { self, local, peers, downMs = 2_000, clock, observers } = optionsOf('ownedCounters', options, OPTIONS)
  if (typeof self !== 'string' || self === '') throw badOption('ownedCounters: self', self, 'the name of this node')
  const nodes = new Map(Object.entries({ ...peers, [self]: local }))
  if (Object.hasOwn(peers, self)) throw badOption('ownedCounters: peers', peers, 'none with the name of this node')
  for (const [name, counters] of nodes) {
    if (typeof counters?.incrementMany === 'function') continue
    throw badOption(`ownedCounters: ${name}`, counters, 'counters, as counterClient makes them')
  }
  const down = parseTimerMs(downMs, 'ownedCounters: downMs')
  const ring = new OwnerRing([...nodes.keys()].sort(), { clock: clockOf(clock), downMs: down })
  return new RoutedCounters({ self, local, nodes, ring, observers: new Observers(observers) })
}

interface RoutedDeps {
  readonly self: string
  readonly local: Counters
  readonly nodes: ReadonlyMap<string, Counters>
  readonly ring: OwnerRing
  readonly observers: Observers
}

class RoutedCounters implements OwnedCounters {
  readonly #deps: RoutedDeps
  #isClosed = false

  constructor(deps: RoutedDeps) {
    this.#deps = deps
  }

  get down(): readonly string[] {
    return this.#deps.ring.down
  }

  async increment(id: string, delta = 1, options: IncrementOptions = {}): Promise<CounterReceipt> {
    checkId(id)
    // of a unit that may be sent to two nodes only a token tells that it is one
    const own = options.token === undefined ? randomUUID() : undefined
    const sent = own === undefined ? options : { ...options, token: own }
    let isSecond = false
    const receipt = await this.#ask(id, (owner, isSelf) => {
      const first = !isSecond
      isSecond = true
      return owner.increment(id, delta, isSelf && first ? options : sent)
    })
    // a token of ours that counted at the first node counted for this caller
    return own === undefined ? receipt : { ...receipt, counted: true }
  }

  async incrementMany(deltas: CounterDeltas, options?: IncrementOptions): Promise<BatchReceipt> {
    this.#checkOpen()
    return this.#deps.local.incrementMany(deltas, { ...options, durable: true })
  }

  async read(id: string, options?: ReadOptions): Promise<CounterReading> {
    checkId(id)
    return this.#ask(id, (owner) => owner.read(id, options))
  }

  async readMany(prefix: string, options?: ReadManyOptions): Promise<readonly CounterReading[]> {
    await this.flush()
    return this.#deps.local.readMany(prefix, options)
  }

  async aggregate(prefix: string, kind?: 'sum'): Promise<number> {
    await this.flush()
    return this.#deps.local.aggregate(prefix, kind)
  }

  async reset(id: string): Promise<void> {
    checkId(id)
    await this.#ask(id, (owner) => owner.reset(id))
  }

  async delete(id: string): Promise<void> {
    checkId(id)
    await this.#ask(id, (owner) => owner.delete(id))
  }

  /** Of all nodes that answer; rejects where this one cannot. */
  async flush(): Promise<void> {
    this.#checkOpen()
    const { self, nodes, ring } = this.#deps
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

  /** Of this node alone. */
  close(): Promise<void> {
    this.#isClosed = true
    return this.#deps.local.close()
  }

  #checkOpen(): void {
    if (this.#isClosed)
      throw new SluiceError('SLUICE_COUNTERS_CLOSED', `counters of node '${this.#deps.self}' are closed`)
  }

  /** What the owner answers, or the next one while owners give no answer. This node answers for itself, whatever it says. */
  async #ask<T>(id: string, call: (owner: Counters, isSelf: boolean) => Promise<T>): Promise<T> {
    this.#checkOpen()
    const { self, nodes, ring } = this.#deps
    for (let tries = 0; tries < nodes.size; tries++) {
      const name = ring.ownerOf(id) ?? self
      const owner = nodes.get(name) ?? this.#deps.local
      try {
        return await call(owner, name === self)
      } catch (error) {
        if (name === self || !isUnanswered(error)) throw error
        this.#leaveOut(name, error)
      }
    }
    throw unanswered(`no owner of a counter gave an answer: ${this.down.join(', ')}`)
  }

  #leaveOut(node: string, error: unknown): void {
    this.#deps.ring.markDown(node)
    this.#deps.observers.event('backendFailed', { backend: 'counters', node, reason: messageOf(error) })
  }
}

function isUnanswered(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return code === 'SLUICE_COUNTERS_UNANSWERED' || code === 'SLUICE_COUNTERS_CLOSED'
}
