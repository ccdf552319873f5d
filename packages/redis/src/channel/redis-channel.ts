import { checkTopic } from '@sluice/fleet/backend'
import {
  type Channel,
  type Duration,
  integerFrom,
  optionsOf,
  type PublishOptions,
  parseMs,
  repeatEvery,
  type ScriptRunner,
} from '@sluice/limiter-core/backend'
import type { RedisClient } from '../runners/redis-client.ts'
import { ChannelExchange } from './channel-exchange.ts'
import {
  type ChannelSettings,
  channelSettings,
  SHARED_CHANNEL_OPTIONS,
  type SharedChannelOptions,
} from './channel-options.ts'
import { ChannelTopic, type TopicBounds } from './channel-topic.ts'

export interface RedisChannelOptions extends SharedChannelOptions {
  /**
   * Time for which Redis retains messages for processes that are disconnected or start later, from 1 second to 1 day.
   * Default: 1 minute.
   */
  readonly retainMs?: Duration | undefined
  /** Maximum size of a topic in Redis, in bytes of base64. The oldest messages are discarded. Default: 16 MiB. */
  readonly maxRetainedBytes?: number | undefined
  /** Maximum size of a message in bytes. Default: 256 KiB. */
  readonly maxMessageBytes?: number | undefined
  /**
   * Maximum size of unsent messages per topic in this process: their bytes plus 64 per message. The oldest messages are
   * dropped. At least `maxMessageBytes` + 64. Default: 4 MiB.
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
 * Creates a channel on Redis or Redis Cluster. Every other subscribed process receives each message exactly once and in
 * the order of its sender. The sender does not receive it. All messages of a topic are sent and received in one script
 * call per tick. They arrive within two ticks, urgent messages within one.
 *
 * The first subscriber of a topic in a process receives the messages that Redis has retained; further subscribers
 * receive later messages only. If a process was disconnected for longer than `retainMs`, or if Redis lost its data,
 * observers receive `sync` with `missed`. While Redis is unavailable, messages wait in this process; observers receive
 * `sync` with `dropped` for messages that exceed `maxUnsentBytes`.
 *
 * Throws `SLUICE_BAD_OPTION` or `SLUICE_BAD_DURATION` if an option is invalid.
 */
export function redisChannel(client: RedisClient | ScriptRunner, options: RedisChannelOptions = {}): RedisChannel {
  optionsOf('redisChannel', options, OPTIONS)
  return new RedisChannel(channelSettings('redisChannel', client, options), boundsOf(options))
}

/** Channel returned by `redisChannel`. */
export class RedisChannel implements Channel {
  readonly #settings: ChannelSettings
  readonly #bounds: TopicBounds
  readonly #topics = new Map<string, { readonly side: ChannelTopic; readonly exchange: ChannelExchange }>()
  readonly #stop: () => void
  #closing: Promise<void> | undefined

  constructor(settings: ChannelSettings, bounds: TopicBounds) {
    this.#settings = settings
    this.#bounds = bounds
    this.#stop = repeatEvery(settings.clock, settings.tickMs, () => this.#tick())
  }

  /**
   * Sends `bytes` to all other processes at the next tick, or at once if `urgent` is true. They receive the message at
   * their next tick. Does nothing after `close`. Failures of Redis or the network never throw. Throws
   * `SLUICE_BAD_MESSAGE` if `bytes` is larger than `maxMessageBytes`, or if the topic is not 1 to 128 printable ASCII
   * characters without braces.
   */
  publish(topic: string, bytes: Uint8Array, { urgent = false }: PublishOptions = {}): void {
    const { side, exchange } = this.#topic('publish', topic)
    if (this.#closing) return
    side.publish(bytes)
    // a pending exchange does not include the message, so another one follows
    if (urgent) void exchange.tick().then(() => (side.waiting > 0 ? exchange.tick() : undefined))
  }

  /**
   * Calls `receive` with each message of other processes until the returned function is called. All receivers share one
   * `Uint8Array`. If a receiver throws, observers receive `hookFailed` and the receiver stays subscribed. Throws
   * `SLUICE_BAD_MESSAGE` if the topic is invalid.
   */
  subscribe(topic: string, receive: (bytes: Uint8Array) => void): () => void {
    const { side, exchange } = this.#topic('subscribe', topic)
    if (this.#closing) return () => {}
    if (!side.listening) exchange.rejoin()
    return side.add(receive)
  }

  /** Sends unsent messages for up to `closeMs` and closes the channel. The client stays open. Never rejects. */
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
      side.reportDropped()
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
  const message = integerFrom(`${owner}: maxMessageBytes`, maxMessageBytes, 1)
  return {
    retainMs: integerFrom(`${owner}: retainMs`, parseMs(retainMs, `${owner}: retainMs`), 1_000, 86_400_000),
    maxRetainedBytes: integerFrom(`${owner}: maxRetainedBytes`, maxRetainedBytes, 1),
    maxMessageBytes: message,
    maxUnsentBytes: integerFrom(`${owner}: maxUnsentBytes`, maxUnsentBytes, message + 64),
  }
}
