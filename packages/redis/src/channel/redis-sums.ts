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
   * Most sums that Redis keeps, about 200 bytes each; those without additions for the longest time are dropped first.
   * Equal in all processes. Default: 1,000,000.
   */
  readonly maxSums?: number | undefined
  /** Most unsent sums that wait in this process; amounts for further sums are dropped. Default: 100,000. */
  readonly maxUnsent?: number | undefined
}

/**
 * Creates shared sums on Redis or Redis Cluster, such as the cells of a sketch: each process adds to them and knows
 * all of them as of its last tick. Additions are sent and changes received once per tick, in one script call per
 * 1,000 sums. Every amount counts exactly once.
 *
 * A sum without additions for a day is forgotten. If Redis lost its data, the sums restart with what was not sent
 * yet; observers receive `sync` with `missed`, and `sync` with `dropped` for amounts that were dropped in this
 * process.
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

  /**
   * Returns the sum over all processes as far as it is known here, including everything that this process added; 0
   * for an unknown sum.
   */
  get(name: string): number {
    return this.#deltas.get(name)
  }

  /** Sends the rest, for at most `closeMs`, and closes. Never rejects. */
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
