import { checkTopic, everyTick, optionsOf, type ScriptRunner } from '@sluice/limiter-core/backend'
import type { RedisClient } from '../client/redis-client.ts'
import { ChannelDeltas, type SumsBounds } from './channel-deltas.ts'
import { ChannelExchange } from './channel-exchange.ts'
import {
  type ChannelSettings,
  channelSettings,
  SHARED_CHANNEL_OPTIONS,
  type SharedChannelOptions,
  whole,
} from './channel-options.ts'

export interface RedisSumsOptions extends SharedChannelOptions {
  /** Processes with the same name and prefix share sums. 1 to 128 printable ASCII characters without braces. */
  readonly name: string
  /**
   * So many sums are kept at most; default: 1,000,000, some 200 bytes of Redis each. Those to which nobody added for
   * the longest time go first. The same in all processes that share.
   */
  readonly maxSums?: number | undefined
  /** So many sums that were not sent yet wait in this process at most; default: 100,000. What goes to one more is dropped. */
  readonly maxUnsent?: number | undefined
}

/**
 * Sums of a fleet on Redis or Redis Cluster, such as the cells of a sketch: each process adds to them, and knows all of
 * them as of its last tick. What it added goes up once a tick, and what changed comes down, in one script call for each
 * 1,000 sums. Every amount counts exactly once.
 *
 * A sum to which nobody adds for a day is forgotten, each by itself. Where Redis lost its data the sums begin anew, with what was not
 * sent yet; observers hear `sync` with `missed`, and of what was dropped here `sync` with `dropped`.
 *
 * Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_DURATION`, and `SLUICE_BAD_MESSAGE` for the name.
 */
export function redisSums(client: RedisClient | ScriptRunner, options: RedisSumsOptions): RedisSums {
  optionsOf('redisSums', options, [...SHARED_CHANNEL_OPTIONS, 'name', 'maxSums', 'maxUnsent'])
  checkTopic('redisSums: name', options.name)
  const maxSums = whole(options.maxSums ?? 1_000_000, 'redisSums: maxSums')
  const maxUnsent = whole(options.maxUnsent ?? 100_000, 'redisSums: maxUnsent')
  return new RedisSums(channelSettings('redisSums', client, options), options.name, { maxSums, maxUnsent })
}

/** Made by `redisSums`. */
export class RedisSums {
  readonly #deltas: ChannelDeltas
  readonly #exchange: ChannelExchange
  readonly #closeMs: number
  readonly #stop: () => void
  #closing: Promise<void> | undefined

  constructor(settings: ChannelSettings, name: string, bounds: Omit<SumsBounds, 'observers'>) {
    const { prefix, writer, observers, clock, tickMs, closeMs } = settings
    const stored = `${prefix}:{${name}}`
    this.#deltas = new ChannelDeltas(name, stored, { ...bounds, observers })
    this.#exchange = new ChannelExchange(this.#deltas, { ...settings, writerKey: `${stored}:writer:${writer}` })
    this.#closeMs = closeMs
    this.#stop = everyTick(clock, tickMs, () => {
      this.#deltas.tellDropped()
      void this.#exchange.tick()
    })
  }

  /**
   * Adds `amount` to the sum `name`: a whole number, also a negative one. Network and Redis never make it fail. Throws
   * `SLUICE_BAD_MESSAGE` for anything else, and for a name that is not 1 to 128 printable ASCII characters without braces.
   */
  add(name: string, amount = 1): void {
    if (!this.#closing) this.#deltas.add(name, amount)
  }

  /** What all added as far as it is known here, with all that this process added. 0 for a sum that nobody knows. */
  get(name: string): number {
    return this.#deltas.get(name)
  }

  /** Sends what is left, for at most `closeMs`, and ends. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#stop()
    this.#deltas.listening = false
    await this.#exchange.close(this.#closeMs)
  }
}
