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
  /** How long messages wait in Redis for who is away or comes later; default: 1 min, from 1 s to 1 day. */
  readonly retainMs?: Duration | undefined
  /** So many bytes of a topic (as base64) wait in Redis at most; default: 16 MiB. The oldest messages go first. */
  readonly maxRetainedBytes?: number | undefined
  /** The largest message; default: 256 KiB. */
  readonly maxMessageBytes?: number | undefined
  /**
   * So many bytes of a topic, and 64 for each message, wait in this process at most while Redis is away: 4 MiB unless
   * said, at least `maxMessageBytes` and 64. The oldest messages go first.
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
 * A channel on Redis or Redis Cluster: what one process publishes every other one that listens receives, exactly once
 * and in the order of that process; never its own. Messages of a topic go up and come down together, in one script
 * call a tick. They reach others one to two ticks later, urgent ones within one.
 *
 * Who listens first in a process receives what Redis has retained of others, and who joins later what comes from then
 * on. One that was away for longer than `retainMs`, or whose Redis lost its data, is told: `sync` with `missed`. While
 * Redis is away messages wait here; those that are dropped are told: `sync` with `dropped`.
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
   * Sends `bytes` to all others with the next tick, or at once where it is `urgent`, so that it reaches them with their next
   * tick; network and Redis never make it fail. Nothing is sent once the
   * channel was closed. Throws `SLUICE_BAD_MESSAGE` for bytes above `maxMessageBytes`, and for a topic that is not 1 to
   * 128 printable ASCII characters without braces.
   */
  publish(topic: string, bytes: Uint8Array, { urgent = false }: PublishOptions = {}): void {
    const { side, exchange } = this.#topic('publish', topic)
    if (this.#closing) return
    side.publish(bytes)
    // what is under way has left without it
    if (urgent) void exchange.tick().then(() => (side.waiting > 0 ? exchange.tick() : undefined))
  }

  /**
   * Calls `receive` with each message of others, until what it returns is called. The bytes are the same for all that
   * receive. A receiver that throws is told to observers and goes on. Throws `SLUICE_BAD_MESSAGE` for such a topic.
   */
  subscribe(topic: string, receive: (bytes: Uint8Array) => void): () => void {
    const { side, exchange } = this.#topic('subscribe', topic)
    if (this.#closing) return () => {}
    if (!side.listening) exchange.rejoin()
    return side.add(receive)
  }

  /** Sends what is left, for at most `closeMs`, and ends. Never rejects. */
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
