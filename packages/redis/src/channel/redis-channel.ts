import {
  type Channel,
  checkTopic,
  type Duration,
  everyTick,
  optionsOf,
  type PublishOptions,
  parseMs,
  type ScriptRunner,
} from '@sluice/limiter-core/backend'
import type { RedisClient } from '../client/redis-client.ts'
import { ChannelExchange } from './channel-exchange.ts'
import {
  type ChannelSettings,
  channelSettings,
  SHARED_CHANNEL_OPTIONS,
  type SharedChannelOptions,
  whole,
} from './channel-options.ts'
import { ChannelTopic, type TopicBounds } from './channel-topic.ts'

export interface RedisChannelOptions extends SharedChannelOptions {
  /** How long messages wait in Redis for processes that are away or start later: 1 s to 1 day. Default: 1 min. */
  readonly retainMs?: Duration | undefined
  /** Most bytes of a topic (as base64) that wait in Redis; the oldest messages are dropped first. Default: 16 MiB. */
  readonly maxRetainedBytes?: number | undefined
  /** The largest message; default: 256 KiB. */
  readonly maxMessageBytes?: number | undefined
  /**
   * Most bytes of a topic, plus 64 per message, that wait in this process while Redis is away; the oldest messages
   * are dropped first. At least `maxMessageBytes` plus 64. Default: 4 MiB.
   */
  readonly maxUnsentBytes?: number | undefined
}

const OPTIONS = [
  ...SHARED_CHANNEL_OPTIONS,
  'retainMs',
  'maxRetainedBytes',
  'maxMessageBytes',
  'maxUnsentBytes',
] as const

/**
 * Creates a channel on Redis or Redis Cluster: a message of one process is received by every other subscribed
 * process, exactly once and in the order of its sender; never by the sender. Messages of a topic are sent and
 * received in one script call per tick. They arrive within one to two ticks, urgent ones within one.
 *
 * The first subscriber of a process receives what Redis has retained, later ones the messages from then on. A process
 * that was away for longer than `retainMs`, or whose Redis lost its data, is notified with `sync` and `missed`. While
 * Redis is away messages wait in this process; dropped ones are reported with `sync` and `dropped`.
 *
 * Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`.
 */
export function redisChannel(client: RedisClient | ScriptRunner, options: RedisChannelOptions = {}): RedisChannel {
  optionsOf('redisChannel', options, OPTIONS)
  return new RedisChannel(channelSettings('redisChannel', client, options), boundsOf(options))
}

/** Made by `redisChannel`. */
export class RedisChannel implements Channel {
  readonly #settings: ChannelSettings
  readonly #bounds: TopicBounds
  readonly #topics = new Map<string, { readonly side: ChannelTopic; readonly exchange: ChannelExchange }>()
  readonly #stop: () => void
  #closing: Promise<void> | undefined

  constructor(settings: ChannelSettings, bounds: TopicBounds) {
    this.#settings = settings
    this.#bounds = bounds
    this.#stop = everyTick(settings.clock, settings.tickMs, () => this.#tick())
  }

  /**
   * Sends `bytes` to all other processes at the next tick, or at once if `urgent`, so that they receive it at their
   * next tick. Network and Redis failures never throw. Nothing is sent after `close`. Throws `SLUICE_BAD_MESSAGE` for
   * more than `maxMessageBytes`, and for a topic that is not 1 to 128 printable ASCII characters without braces.
   */
  publish(topic: string, bytes: Uint8Array, { urgent = false }: PublishOptions = {}): void {
    const { side, exchange } = this.#topic('publish', topic)
    if (this.#closing) return
    side.publish(bytes)
    // a pending exchange has started without it
    if (urgent) void exchange.tick().then(() => (side.waiting > 0 ? exchange.tick() : undefined))
  }

  /**
   * Calls `receive` with each message of other processes, until the returned function is called. All receivers get
   * the same bytes. If a receiver throws, observers are notified and it continues to receive. Throws
   * `SLUICE_BAD_MESSAGE` for an invalid topic.
   */
  subscribe(topic: string, receive: (bytes: Uint8Array) => void): () => void {
    const { side, exchange } = this.#topic('subscribe', topic)
    if (this.#closing) return () => {}
    if (!side.listening) exchange.rejoin()
    return side.add(receive)
  }

  /** Sends the rest, for at most `closeMs`, and closes. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#stop()
    for (const { side } of this.#topics.values()) side.leave()
    await Promise.all([...this.#topics.values()].map(({ exchange }) => exchange.close(this.#settings.closeMs)))
  }

  #tick(): void {
    for (const { side, exchange } of this.#topics.values()) {
      side.tellDropped()
      void exchange.tick()
    }
  }

  #topic(owner: string, topic: string): { readonly side: ChannelTopic; readonly exchange: ChannelExchange } {
    checkTopic(owner, topic)
    const known = this.#topics.get(topic)
    if (known) return known
    const { prefix, writer, observers } = this.#settings
    const name = `${prefix}:{${topic}}`
    const side = new ChannelTopic(topic, name, { bounds: this.#bounds, observers })
    const exchange = new ChannelExchange(side, { ...this.#settings, writerKey: `${name}:writer:${writer}` })
    const made = { side, exchange }
    this.#topics.set(topic, made)
    return made
  }
}

function boundsOf(options: RedisChannelOptions): TopicBounds {
  const { retainMs = 60_000, maxRetainedBytes = 2 ** 24, maxMessageBytes = 2 ** 18, maxUnsentBytes = 2 ** 22 } = options
  const owner = 'redisChannel'
  const message = whole(maxMessageBytes, `${owner}: maxMessageBytes`)
  return {
    retainMs: whole(parseMs(retainMs, `${owner}: retainMs`), `${owner}: retainMs`, { least: 1_000, most: 86_400_000 }),
    maxRetainedBytes: whole(maxRetainedBytes, `${owner}: maxRetainedBytes`),
    maxMessageBytes: message,
    maxUnsentBytes: whole(maxUnsentBytes, `${owner}: maxUnsentBytes`, { least: message + 64 }),
  }
}
