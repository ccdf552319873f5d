import {
  checkTopic,
  type Duration,
  everyTick,
  optionsOf,
  parseDuration,
  type ScriptRunner,
  SluiceError,
} from '@sluice/limiter-core/backend'
import { type SketchKey, SketchSeed } from '@sluice/sketches'
import {
  type ChannelSettings,
  channelSettings,
  SHARED_CHANNEL_OPTIONS,
  type SharedChannelOptions,
} from '../channel/channel-options.ts'
import type { RedisClient } from '../client/redis-client.ts'
import { UniquesExchange, type UniquesLocation } from './uniques-exchange.ts'

export interface RedisUniquesOptions extends SharedChannelOptions {
  /** Processes with the same name and prefix count together. 1 to 128 printable ASCII characters without braces. */
  readonly name: string
  /** Counts anew each window of the server's time, such as `'1d'`. Unless said it counts on and on. The same in all processes. */
  readonly window?: Duration | undefined
  /** Without a window: forgotten when no process was there for so long, default a day. */
  readonly ttl?: Duration | undefined
  /**
   * 16 bytes or more, the same in all processes: keys are hashed under it first, so that a stranger who chooses keys
   * cannot choose how they count. Without it they count as `PFADD` counts them, in which anybody can join.
   */
  readonly secret?: string | Uint8Array | undefined
}

/**
 * How many different keys a fleet saw, on Redis or Redis Cluster, to about 0.81 %, in 12 KB. `add` does no I/O; what is new
 * in the registers of this process goes up once a tick, in one script call. Any client reads the count:
 *
 *     PFCOUNT prefix:{name}:uniques              without a window
 *     PFCOUNT prefix:{name}:uniques:20453        window number floor(server time / window), kept until the next one is over
 *
 * A key counts in the window in which the tick after it falls. Where Redis lost its data, or was replaced by a replica
 * that lacked some, each process sends again all that it saw: what is lost are keys that only processes saw that are gone.
 * Observers hear `sync` with `missed` then, and with `dropped`, about how many keys, where a window could not be sent
 * until the next one was over.
 *
 * Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_DURATION`, `SLUICE_BAD_SEED` for the secret, and `SLUICE_BAD_MESSAGE` for the name.
 */
export function redisUniques(client: RedisClient | ScriptRunner, options: RedisUniquesOptions): RedisUniques {
  optionsOf('redisUniques', options, [...SHARED_CHANNEL_OPTIONS, 'name', 'window', 'ttl', 'secret'])
  const { name, window, ttl, secret } = options
  checkTopic('redisUniques: name', name)
  if (window !== undefined && ttl !== undefined) {
    throw new SluiceError('SLUICE_BAD_OPTION', 'redisUniques: expected one of them, received window and ttl')
  }
  const settings = channelSettings('redisUniques', client, options)
  const place: UniquesLocation = {
    topic: name,
    stored: `${settings.prefix}:{${name}}:uniques`,
    windowMs: window === undefined ? 0 : parseDuration(window, 'redisUniques: window'),
    ttlMs: parseDuration(ttl ?? '1d', 'redisUniques: ttl'),
  }
  return new RedisUniques(settings, place, secret === undefined ? undefined : new SketchSeed(secret))
}

/** Made by `redisUniques`. */
export class RedisUniques {
  readonly #exchange: UniquesExchange
  readonly #seed: SketchSeed | undefined
  // the hash of a key under the secret
  readonly #hashed: Uint8Array = new Uint8Array(8)
  readonly #halves: DataView = new DataView(this.#hashed.buffer)
  readonly #stop: () => void
  #closing: Promise<void> | undefined

  constructor(settings: ChannelSettings, place: UniquesLocation, seed: SketchSeed | undefined) {
    this.#exchange = new UniquesExchange(settings, place)
    this.#seed = seed
    this.#stop = everyTick(settings.clock, settings.tickMs, () => {
      void this.#exchange.tick()
    })
  }

  /** A key was seen. Network and Redis never make it fail. Does nothing after `close`. */
  add(key: SketchKey): void {
    if (this.#closing) return
    const { current } = this.#exchange
    if (current.seen.add(this.#seed ? this.#underSecret(this.#seed, key) : key)) current.news = true
  }

  /** Of this window: what the fleet had seen as of the last tick, or what this process saw where that is more. */
  count(): number {
    const { current } = this.#exchange
    return Math.max(current.counted, current.seen.count())
  }

  /** The key of Redis that counts now, for `PFCOUNT`. With a window it is undefined until Redis told its time. */
  get key(): string | undefined {
    return this.#exchange.keyOf(this.#exchange.current)
  }

  /** Sends what is left, for at most `closeMs`, and ends. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#stop()
    await this.#exchange.close()
  }

  #underSecret(seed: SketchSeed, key: SketchKey): Uint8Array {
    const { low, high } = seed.hashOf(key)
    this.#halves.setInt32(0, low, true)
    this.#halves.setInt32(4, high, true)
    return this.#hashed
  }
}
