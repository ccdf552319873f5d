import { badOption } from '@sluice/limiter-core/backend'
import type { LogItem } from './replica-log.ts'
import type { Clocks, TableListener } from './replica-table.ts'

/** What one use of a node writes and hears, by the first part of its keys. */
export interface GossipTopic {
  /** False where it came too late. */
  received(replica: string, item: LogItem): boolean
  missed(replica: string): void
  /** Whether it may be forgotten. */
  isOld(item: LogItem, replica: string): boolean
  /** Of a log that `openLog` made somewhere: how far it may be taken over, 0 where not at all. Default: without a limit. */
  limitOf?(replica: string): number
  /** Before this replica tells another one anything. */
  beforeExchange?(): void
  /** Another one, by the name of its node, has all logs as far as these clocks. */
  known?(replica: string, clocks: Clocks): void
  /** The node has ended. */
  ended?(): void
}

/** Items of a kind that this node does not know are kept for others. */
const UNKNOWN_MS = 3_600_000
/** The name of a log of a kind: longer than that of any node. */
const KIND_LOG = /^([a-z]+)-[\w-]{16}$/

/** `name`: 16 characters, as a node has. */
export function logName(kind: string, name: string): string {
  return `${kind}-${name}`
}

/** What stands on a node, by kind. */
export class GossipTopics implements TableListener {
  readonly #topics = new Map<string, GossipTopic>()

  /** Throws `SLUICE_BAD_OPTION` where something has this kind. */
  attach(kind: string, topic: GossipTopic): void {
    if (this.#topics.has(kind)) throw badOption('gossip: kind', kind, 'one that nothing else has on this node')
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

  limitOf(replica: string): number {
    const [, kind] = KIND_LOG.exec(replica) ?? []
    if (kind === undefined) return Number.POSITIVE_INFINITY
    const topic = this.#topics.get(kind)
    return topic ? (topic.limitOf?.(replica) ?? Number.POSITIVE_INFINITY) : 0
  }

  isAging(replica: string): boolean {
    return !KIND_LOG.test(replica)
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
