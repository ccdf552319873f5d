import { checkTopic } from '@sluice/fleet/backend'
import { integerFrom, optionsOf, repeatEvery, type ScriptRunner } from '@sluice/limiter-core/backend'
import type { RedisClient } from '../runners/redis-client.ts'
import { ChannelDeltas, type SumsBounds } from './channel-deltas.ts'
import { ChannelExchange } from './channel-exchange.ts'
import {
  type ChannelSettings,
  channelSettings,
  SHARED_CHANNEL_OPTIONS,
  type SharedChannelOptions,
} from './channel-options.ts'

export interface RedisSumsOptions extends SharedChannelOptions {
  /**
   * Name of the group of sums; 1 to 128 printable ASCII characters without braces. Processes with the same name and
   * prefix share the sums.
   */
  readonly name: string
  /**
   * Maximum number of sums in Redis, which take about 200 bytes each. The sums without additions for the longest time
   * are discarded. Must be the same in all processes. Default: 1,000,000.
   */
  readonly maxSums?: number | undefined
  /**
   * Maximum number of sums with unsent amounts in this process. Amounts for further sums are dropped. Default: 100,000.
   */
  readonly maxUnsent?: number | undefined
}

/**
 * Creates sums that processes share through Redis or Redis Cluster, such as the cells of a sketch. Each process adds
 * amounts and reads all sums as of its last tick. Amounts are sent and changes received once per tick, in one script
 * call per 1,000 sums. Every amount counts exactly once.
 *
 * A sum without additions for a day is deleted. If Redis loses its data, the sums start again from the unsent amounts,
 * and observers receive `sync` with `missed`. Observers receive `sync` with `dropped` for amounts that this
 * process dropped.
 *
 * Throws `SLUICE_BAD_OPTION` or `SLUICE_BAD_DURATION` if an option is invalid, and `SLUICE_BAD_MESSAGE` if the name is.
 */
export function redisSums(client: RedisClient | ScriptRunner, options: RedisSumsOptions): RedisSums {
  optionsOf('redisSums', options, [...SHARED_CHANNEL_OPTIONS, 'name', 'maxSums', 'maxUnsent'])
  checkTopic('redisSums: name', options.name)
  const maxSums = integerFrom('redisSums: maxSums', options.maxSums ?? 1_000_000, 1)
  const maxUnsent = integerFrom('redisSums: maxUnsent', options.maxUnsent ?? 100_000, 1)
  return new RedisSums(channelSettings('redisSums', client, options), options.name, { maxSums, maxUnsent })
}

/** Shared sums returned by `redisSums`. */
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
    this.#stop = repeatEvery(clock, tickMs, () => {
      this.#deltas.reportDropped()
      void this.#exchange.tick()
    })
  }

  /**
   * Adds `amount`, an integer that may be negative, to the sum `name`. Does nothing after `close`. Failures of Redis or
   * the network never throw. Throws `SLUICE_BAD_MESSAGE` if the amount is not an integer within 2^53, or if the name is
   * not 1 to 128 printable ASCII characters without braces. Default amount: 1.
   */
  add(name: string, amount = 1): void {
    if (!this.#closing) this.#deltas.add(name, amount)
  }

  /**
   * Returns the sum `name` over all processes as of the last tick, plus all amounts that this process has added since.
   * Returns 0 if the sum is unknown.
   */
  get(name: string): number {
    return this.#deltas.get(name)
  }

  /** Sends unsent amounts for up to `closeMs` and closes the sums. The client stays open. Never rejects. */
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
