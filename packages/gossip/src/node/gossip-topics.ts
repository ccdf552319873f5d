import { badOption } from '@sluice/limiter-core/backend'
import type { LogItem } from '../log/replica-log.ts'
import type { Clocks } from '../log/replica-table.ts'

/** Use of a node, such as a channel or counters. It owns the items whose keys start with its kind. */
export interface GossipTopic {
  /** Returns false if the item arrived after its time. */
  received(replica: string, item: LogItem): boolean
  missed(replica: string): void
  /** Whether an item may be dropped. */
  isOld(item: LogItem, replica: string): boolean
  /**
   * Returns the clock up to which a log made by `openLog` on any node may be replicated, 0 for not at all. Default: no
   * limit.
   */
  limitOf?(replica: string): number
  /** Whether items of this kind are only in logs made by `openLog` with this kind. Default: false. */
  readonly hasOwnLogs?: boolean
  /** Whether logs of this kind made by `openLog` may be sent to a node that has nothing of them. Default: true. */
  mayIntroduce?(to: string): boolean
  /** Called before this replica sends its clocks to another one. */
  beforeExchange?(): void
  /** Called when another replica, given by the name of its node, has all logs up to these clocks. */
  known?(replica: string, clocks: Clocks): void
  /** Called when the node has closed. */
  ended?(): void
}

/** Time for which items of a kind unknown to this node are kept for other replicas. */
const UNKNOWN_MS = 3_600_000
/** Name of a log that `openLog` made; it is longer than the name of any node. */
const KIND_LOG = /^([a-z]+)-[\w-]{16}$/

/** Returns the name of a log. `name` has 16 characters, like the name of a node. */
export function logName(kind: string, name: string): string {
  return `${kind}-${name}`
}

/** Whether `name` is the name of a log that `openLog` made for this kind. */
export function isLogOf(kind: string, name: string): boolean {
  return KIND_LOG.exec(name)?.[1] === kind
}

/** The topics of a node, by kind. */
export class GossipTopics {
  readonly #topics = new Map<string, GossipTopic>()

  /** Registers a topic. Throws `SLUICE_BAD_OPTION` if the kind is already registered. */
  attach(kind: string, topic: GossipTopic): void {
    if (this.#topics.has(kind)) {
      const expected = 'an unused kind (a node supports one channel, one backend and one set of counters)'
      throw badOption('gossip: kind', kind, expected)
    }
    this.#topics.set(kind, topic)
  }

  received(replica: string, item: LogItem): boolean {
    return this.#topics.get(kindOf(item))?.received(replica, item) ?? true
  }

  missed(replica: string): void {
    const [, kind] = KIND_LOG.exec(replica) ?? []
    for (const [own, topic] of this.#topics) if (kind === undefined || kind === own) topic.missed(replica)
  }

  isOld(item: LogItem, replica: string, now: number): boolean {
    return this.#topics.get(kindOf(item))?.isOld(item, replica) ?? now - item.bornAt > UNKNOWN_MS
  }

  acceptedClock(replica: string): number {
    const [, kind] = KIND_LOG.exec(replica) ?? []
    if (kind === undefined) return Number.POSITIVE_INFINITY
    const topic = this.#topics.get(kind)
    return topic ? (topic.limitOf?.(replica) ?? Number.POSITIVE_INFINITY) : 0
  }

  mayIntroduce(replica: string, to: string): boolean {
    const [, kind] = KIND_LOG.exec(replica) ?? []
    return kind === undefined || this.#topics.get(kind)?.mayIntroduce?.(to) !== false
  }

  expiresByAge(replica: string): boolean {
    return !KIND_LOG.test(replica)
  }

  /** Whether a log may contain an item: items of a log made by `openLog` have its kind. */
  belongs(replica: string, item: LogItem): boolean {
    const [, kind] = KIND_LOG.exec(replica) ?? []
    const ofItem = kindOf(item)
    return kind === undefined ? this.#topics.get(ofItem)?.hasOwnLogs !== true : ofItem === kind
  }

  beforeExchange(): void {
    for (const topic of this.#topics.values()) topic.beforeExchange?.()
  }

  ended(): void {
    for (const topic of this.#topics.values()) topic.ended?.()
  }

  known(replica: string, clocks: Clocks): void {
    for (const topic of this.#topics.values()) topic.known?.(replica, clocks)
  }
}

function kindOf({ key }: LogItem): string {
  return key.slice(0, key.indexOf(':'))
}
