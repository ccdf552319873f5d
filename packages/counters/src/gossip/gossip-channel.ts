import type { Channel, Metric, MetricSource } from '@sluice/limiter-core'
import {
  badOption,
  CounterMetric,
  checkTopic,
  type Duration,
  isTopic,
  messageOf,
  optionsOf,
  parseTimerMs,
  SluiceError,
} from '@sluice/limiter-core/backend'
import { wholeWithin } from '../counter-options.ts'
import { GossipNode } from './gossip-node.ts'
import type { GossipTopic } from './gossip-topics.ts'
import type { LogItem } from './replica-log.ts'

export interface GossipChannelOptions {
  /** How long messages are kept for replicas that are away or come later. Default: 1 min; 1 s to 1 h. */
  readonly retainMs?: Duration | undefined
  /** So many bytes of this process are kept at most; the oldest messages go first. Default: 16 MiB. */
  readonly maxRetainedBytes?: number | undefined
  /** The largest message. Default: 256 KiB; up to 4 MiB. */
  readonly maxMessageBytes?: number | undefined
}

type Receive = (bytes: Uint8Array) => void

/** A message, or a part of one: topic, bytes in base64, number of the part from 0, how many there are. */
type PartValue = readonly [topic: string, base64: string, index: number, count: number]

interface PartialMessage {
  readonly topic: string
  readonly count: number
  readonly parts: Buffer[]
  /** Of the last one that came. */
  readonly clock: number
}

const OPTIONS = ['retainMs', 'maxRetainedBytes', 'maxMessageBytes'] as const
const KIND = 'message'
const LEAST_RETAIN_MS = 1_000
const MOST_RETAIN_MS = 3_600_000
/** In base64 a quarter of a message between replicas. */
const PART_BYTES = 12_288
/** Of the largest message that a channel may send. */
const MOST_PARTS = Math.ceil((4 * 2 ** 20) / PART_BYTES)

/**
 * A channel without a server: what one process publishes every other one that listens receives, exactly once and in the
 * order of that process; never its own. It takes about log n ticks of the node. Whoever is away for longer than
 * `retainMs` is told: `sync` with `missed`. One for each node.
 *
 * Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`.
 */
export function gossipChannel(node: GossipNode, options: GossipChannelOptions = {}): GossipChannel {
  if (!(node instanceof GossipNode)) throw badOption('gossipChannel: node', node, 'what createGossip answers')
  const {
    retainMs = 60_000,
    maxRetainedBytes = 16 * 2 ** 20,
    maxMessageBytes = 262_144,
  } = optionsOf('gossipChannel', options, OPTIONS)
  const retained = parseTimerMs(retainMs, 'gossipChannel: retainMs')
  if (retained < LEAST_RETAIN_MS || retained > MOST_RETAIN_MS) {
    throw badOption('gossipChannel: retainMs', retainMs, '1 s to 1 h')
  }
  return new GossipChannel(node, {
    retainMs: retained,
    maxRetainedBytes: wholeWithin('gossipChannel: maxRetainedBytes', maxRetainedBytes, 2 ** 30),
    maxMessageBytes: wholeWithin('gossipChannel: maxMessageBytes', maxMessageBytes, 4 * 2 ** 20),
  })
}

interface ChannelBounds {
  readonly retainMs: number
  readonly maxRetainedBytes: number
  readonly maxMessageBytes: number
}

/** Made by `gossipChannel`. */
export class GossipChannel implements Channel, GossipTopic, MetricSource {
  readonly #node: GossipNode
  readonly #bounds: ChannelBounds
  readonly #receivers = new Map<string, Set<{ readonly receive: Receive }>>()
  /** Of each replica, the message of which parts are still to come. */
  readonly #partial = new Map<string, PartialMessage>()
  /** Clocks and bytes of what this process published and is kept, the oldest first. */
  #published: { readonly clock: number; readonly bytes: number }[] = []
  #publishedBytes = 0
  readonly #messages = new CounterMetric({
    name: 'sluice_gossip_channel_messages_total',
    help: 'Messages of channels, by what became of them here: published, received by those of others.',
    labels: ['direction'],
  })
  readonly #missed = new CounterMetric({
    name: 'sluice_gossip_channel_missed_total',
    help: 'How often messages of another replica were gone before they came here.',
  })
  /** Ever written: each has a key of its own. */
  #parts = 0
  /** Own items up to this clock have had to go. */
  #droppedTo = 0
  #isClosed = false

  constructor(node: GossipNode, bounds: ChannelBounds) {
    this.#node = node
    this.#bounds = bounds
    node.attach(KIND, this)
  }

  /**
   * Sends `bytes` to all others. Nothing is sent once the channel was closed. Throws `SLUICE_BAD_MESSAGE` for bytes above
   * `maxMessageBytes`, and for a topic that is not 1 to 128 printable ASCII characters without braces.
   */
  publish(topic: string, bytes: Uint8Array): void {
    checkTopic('publish', topic)
    const { maxMessageBytes } = this.#bounds
    if (!(bytes instanceof Uint8Array) || bytes.byteLength > maxMessageBytes) {
      const got = bytes instanceof Uint8Array ? `${bytes.byteLength} bytes` : 'no Uint8Array'
      throw new SluiceError('SLUICE_BAD_MESSAGE', `publish: expected at most ${maxMessageBytes} bytes, received ${got}`)
    }
    if (this.#isClosed) return
    this.#messages.add(1, 'published')
    const count = Math.max(1, Math.ceil(bytes.byteLength / PART_BYTES))
    for (let index = 0; index < count; index++) {
      const part = Buffer.from(bytes.subarray(index * PART_BYTES, (index + 1) * PART_BYTES))
      const value: PartValue = [topic, part.toString('base64'), index, count]
      this.#keep(this.#node.write(`${KIND}:${this.#parts++}`, value), part.byteLength)
    }
  }

  /** Calls `receive` with each message of others, until what it answers is called. Throws `SLUICE_BAD_MESSAGE` for such a topic. */
  subscribe(topic: string, receive: Receive): () => void {
    checkTopic('subscribe', topic)
    if (this.#isClosed) return () => {}
    const receivers = this.#receivers.get(topic) ?? new Set()
    this.#receivers.set(topic, receivers)
    const receiver = { receive }
    receivers.add(receiver)
    return () => void receivers.delete(receiver)
  }

  *metrics(): Iterable<Metric> {
    yield* this.#messages.metrics()
    yield* this.#missed.metrics()
    yield {
      name: 'sluice_gossip_channel_retained_bytes',
      help: 'Bytes of messages of this process that are kept for replicas that are away or come later.',
      type: 'gauge',
      samples: [{ labels: {}, value: this.#publishedBytes }],
    }
  }

  /** Ends; the node goes on, and what was published still reaches the others. */
  close(): void {
    this.#isClosed = true
    this.#receivers.clear()
  }

  /** For its node. */
  received(replica: string, { value, bornAt, clock }: LogItem): boolean {
    const part = partOf(value)
    // a replica that keeps messages for longer, or has no channel, may still have it
    if (this.#isOver(bornAt)) return false
    if (!part) return true
    const [topic, base64, index, count] = part
    const partial = this.#partial.get(replica)
    const parts = index === 0 ? [] : (partial?.parts ?? [])
    const isNext = index === parts.length && (index === 0 || (partial?.topic === topic && partial.count === count))
    this.#partial.delete(replica)
    // the parts before it were missed
    if (!isNext) return true
    parts.push(Buffer.from(base64, 'base64'))
    if (parts.length < count) this.#partial.set(replica, { topic, count, parts, clock })
    else this.#deliver(topic, Buffer.concat(parts))
    return true
  }

  /** For its node. */
  missed(replica: string): void {
    this.#partial.delete(replica)
    this.#missed.add(1)
    for (const topic of this.#receivers.keys()) this.#node.observers.event('sync', { topic, missed: true })
  }

  /** For its node. */
  isOld({ clock, bornAt }: LogItem, replica: string): boolean {
    const isOver = this.#isOver(bornAt)
    if (replica !== this.#node.replica) {
      // its replica is gone, or its other parts are missed
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
    for (const { receive } of [...(this.#receivers.get(topic) ?? [])]) {
      try {
        receive(bytes)
      } catch (error) {
        this.#node.observers.event('sync', { topic, failed: messageOf(error) })
      }
    }
  }
}

/** Undefined for what no channel of this release writes. */
function partOf(value: unknown): PartValue | undefined {
  if (!Array.isArray(value) || value.length !== 4) return undefined
  const [topic, base64, index, count] = value as readonly unknown[]
  const isText = isTopic(topic) && typeof base64 === 'string'
  const isPlace = Number.isSafeInteger(index) && Number.isSafeInteger(count) && (index as number) < (count as number)
  const isHeld = (count as number) <= MOST_PARTS
  return isText && isPlace && isHeld && (index as number) >= 0 ? (value as unknown as PartValue) : undefined
}
