import { checkMessage, checkTopic, isTopic, TopicReceivers } from '@sluice/fleet/backend'
import { CounterMetric } from '@sluice/fleet/metrics'
import type { Channel, Metric, MetricSource } from '@sluice/limiter-core'
import { badOption, type Duration, integerFrom, optionsOf, parseTimerMs } from '@sluice/limiter-core/backend'
import type { LogItem } from './log/replica-log.ts'
import { checkNode, type GossipNode } from './node/gossip-node.ts'
import type { GossipTopic } from './node/gossip-topics.ts'

export interface GossipChannelOptions {
  /** How long messages are kept for replicas that are unreachable or join later. Default: 1 min. Range: 1 s to 1 h. */
  readonly retainMs?: Duration | undefined
  /** Maximum number of bytes of own messages to keep; the oldest are dropped first. Default: 16 MiB. Up to 1 GiB. */
  readonly maxRetainedBytes?: number | undefined
  /** Maximum size of a message in bytes. Default: 256 KiB. Up to 4 MiB. */
  readonly maxMessageBytes?: number | undefined
}

type Receive = (bytes: Uint8Array) => void

/** A message or a part of one: topic, bytes in base64, index of the part from 0, number of parts. */
type PartValue = readonly [topic: string, base64: string, index: number, count: number]

interface PartialMessage {
  readonly topic: string
  readonly count: number
  readonly parts: Buffer[]
  /** Clock of the last received part. */
  readonly clock: number
}

const OPTIONS = ['retainMs', 'maxRetainedBytes', 'maxMessageBytes'] as const
const KIND = 'message'
const MIN_RETAIN_MS = 1_000
const MAX_RETAIN_MS = 3_600_000
/** Bytes of one part: as base64, a quarter of the largest message between replicas. */
const PART_BYTES = 12_288
/** Number of parts of the largest message that a channel may send. */
const MAX_PARTS = Math.ceil((4 * 2 ** 20) / PART_BYTES)

/**
 * Creates a channel that needs no server. Every other process that subscribes receives each published message exactly
 * once, in the order of its publisher; a process never receives its own messages. Delivery takes about log n ticks of
 * the node. When a process missed messages because it was unreachable for longer than `retainMs`, its observers receive
 * `sync` with `missed`. A node supports one channel.
 *
 * Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`.
 */
export function gossipChannel(node: GossipNode, options: GossipChannelOptions = {}): GossipChannel {
  checkNode('gossipChannel: node', node)
  const {
    retainMs = 60_000,
    maxRetainedBytes = 16 * 2 ** 20,
    maxMessageBytes = 262_144,
  } = optionsOf('gossipChannel', options, OPTIONS)
  const retained = parseTimerMs(retainMs, 'gossipChannel: retainMs')
  if (retained < MIN_RETAIN_MS || retained > MAX_RETAIN_MS) {
    throw badOption('gossipChannel: retainMs', retainMs, 'a duration from 1 s to 1 h')
  }
  return new GossipChannel(node, {
    retainMs: retained,
    maxRetainedBytes: integerFrom('gossipChannel: maxRetainedBytes', maxRetainedBytes, 1, 2 ** 30),
    maxMessageBytes: integerFrom('gossipChannel: maxMessageBytes', maxMessageBytes, 1, 4 * 2 ** 20),
  })
}

interface ChannelBounds {
  readonly retainMs: number
  readonly maxRetainedBytes: number
  readonly maxMessageBytes: number
}

/** Publish-subscribe channel over gossip, created by `gossipChannel`. */
export class GossipChannel implements Channel, GossipTopic, MetricSource {
  readonly #node: GossipNode
  readonly #bounds: ChannelBounds
  readonly #receivers = new Map<string, TopicReceivers>()
  /** Incomplete message of each replica, until its remaining parts arrive. */
  readonly #partial = new Map<string, PartialMessage>()
  /** Clocks and sizes of the own messages that are still kept, oldest first. */
  #published: { readonly clock: number; readonly bytes: number }[] = []
  #publishedBytes = 0
  readonly #messages = new CounterMetric({
    name: 'sluice_gossip_channel_messages_total',
    help: 'Channel messages, by direction: published by this process, received from other replicas.',
    labels: ['direction'],
  })
  readonly #missed = new CounterMetric({
    name: 'sluice_gossip_channel_missed_total',
    help: 'How often another replica discarded messages before this process received them.',
  })
  /** Number of parts written so far; gives each part a unique key. */
  #parts = 0
  /** Own items up to this clock are no longer kept. */
  #droppedTo = 0
  #isClosed = false

  constructor(node: GossipNode, bounds: ChannelBounds) {
    this.#node = node
    this.#bounds = bounds
    node.attach(KIND, this)
  }

  /**
   * Sends `bytes` to all other replicas. Does nothing after `close`. Throws `SLUICE_BAD_MESSAGE` if `bytes` is not a
   * `Uint8Array` of at most `maxMessageBytes`, or `topic` is not 1 to 128 printable ASCII characters without braces.
   */
  publish(topic: string, bytes: Uint8Array): void {
    checkTopic('publish', topic)
    checkMessage(bytes, this.#bounds.maxMessageBytes)
    if (this.#isClosed) return
    this.#messages.add(1, 'published')
    const count = Math.max(1, Math.ceil(bytes.byteLength / PART_BYTES))
    for (let index = 0; index < count; index++) {
      const part = Buffer.from(bytes.subarray(index * PART_BYTES, (index + 1) * PART_BYTES))
      const value: PartValue = [topic, part.toString('base64'), index, count]
      this.#keep(this.#node.write(`${KIND}:${this.#parts++}`, value), part.byteLength)
    }
  }

  /**
   * Calls `receive` with each message of other replicas on `topic`, and returns a function that ends the subscription.
   * Throws `SLUICE_BAD_MESSAGE` for an invalid topic.
   */
  subscribe(topic: string, receive: Receive): () => void {
    checkTopic('subscribe', topic)
    if (this.#isClosed) return () => {}
    const receivers = this.#receivers.get(topic) ?? new TopicReceivers(this.#node.observers)
    this.#receivers.set(topic, receivers)
    return receivers.add(receive)
  }

  *metrics(): Iterable<Metric> {
    yield* this.#messages.metrics()
    yield* this.#missed.metrics()
    yield {
      name: 'sluice_gossip_channel_retained_bytes',
      help: 'Bytes of own messages kept for replicas that are unreachable or join later.',
      type: 'gauge',
      samples: [{ labels: {}, value: this.#publishedBytes }],
    }
  }

  /** Ends all subscriptions. The node keeps running, and messages already published still reach the other replicas. */
  close(): void {
    this.#isClosed = true
    for (const receivers of this.#receivers.values()) receivers.clear()
    this.#receivers.clear()
  }

  /** Called by the node. */
  received(replica: string, { value, bornAt, clock }: LogItem): boolean {
    const part = partOf(value)
    // replicas with a longer `retainMs`, or without a channel, may still send expired messages
    if (this.#isOver(bornAt)) return false
    if (!part) return true
    const [topic, base64, index, count] = part
    const partial = this.#partial.get(replica)
    const parts = index === 0 ? [] : (partial?.parts ?? [])
    const isNext = index === parts.length && (index === 0 || (partial?.topic === topic && partial.count === count))
    this.#partial.delete(replica)
    // earlier parts of this message were missed
    if (!isNext) return true
    parts.push(Buffer.from(base64, 'base64'))
    if (parts.length < count) this.#partial.set(replica, { topic, count, parts, clock })
    else this.#deliver(topic, Buffer.concat(parts))
    return true
  }

  /** Called by the node. */
  missed(replica: string): void {
    this.#partial.delete(replica)
    this.#missed.add(1)
    for (const topic of this.#receivers.keys()) this.#node.observers.event('sync', { topic, missed: true })
  }

  /** Called by the node. */
  isOld({ clock, bornAt }: LogItem, replica: string): boolean {
    const isOver = this.#isOver(bornAt)
    if (replica !== this.#node.replica) {
      // the remaining parts will not arrive: their replica is gone, or they were missed
      if (isOver && this.#partial.get(replica)?.clock === clock) this.#partial.delete(replica)
      return isOver
    }
    while (isOver && this.#published.length > 0 && this.#published[0].clock <= clock) this.#forgetOldest()
    return isOver || clock <= this.#droppedTo
  }

  #isOver(bornAt: number): boolean {
    return this.#node.clock.now() - bornAt > this.#bounds.retainMs
  }

  #keep({ clock }: LogItem, bytes: number): void {
    this.#published.push({ clock, bytes })
    this.#publishedBytes += bytes
    while (this.#publishedBytes > this.#bounds.maxRetainedBytes && this.#published.length > 1) this.#forgetOldest()
  }

  #forgetOldest(): void {
    const [oldest] = this.#published.splice(0, 1)
    this.#publishedBytes -= oldest.bytes
    this.#droppedTo = oldest.clock
  }

  #deliver(topic: string, bytes: Uint8Array): void {
    this.#messages.add(1, 'received')
    this.#receivers.get(topic)?.deliver(bytes)
  }
}

/** Returns undefined if no channel of this release writes such a value. */
function partOf(value: unknown): PartValue | undefined {
  if (!Array.isArray(value) || value.length !== 4) return undefined
  const [topic, base64, index, count] = value as readonly unknown[]
  const isText = isTopic(topic) && typeof base64 === 'string'
  const isPlace = Number.isSafeInteger(index) && Number.isSafeInteger(count) && (index as number) < (count as number)
  const isHeld = (count as number) <= MAX_PARTS
  return isText && isPlace && isHeld && (index as number) >= 0 ? (value as unknown as PartValue) : undefined
}
