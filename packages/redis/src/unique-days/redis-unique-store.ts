import { optionsOf, type ScriptRunner } from '@sluice/limiter-core/backend'
import { checkPrefix } from '../client/entity-key.ts'
import { invalidReply } from '../client/redis-failure.ts'
import { mergeRegisters, readRegisters } from '../lua/scripts.ts'
import type { RedisClient } from '../runners/redis-client.ts'
import { scriptRunner } from '../runners/script-runner.ts'

export interface RedisUniqueStoreOptions {
  /**
   * First part of every Redis key; 1 to 64 characters without braces or control characters. Must be the same in all
   * processes. Default: `sluice`.
   */
  readonly prefix?: string | undefined
}

/** HyperLogLog registers of one name, one ASCII character per register. */
export interface NamedRegisters {
  readonly name: string
  readonly registers: string
}

/** Maximum number of names per day. Registers of further names are not stored. */
const MAX_NAMES = 256

/**
 * Creates a store on Redis or Redis Cluster for `unique.store` of `createInsight`, which counts unique keys per day.
 * Each day is a Redis hash of 4 KB plus 320 bytes per route, which expires. The registers of several processes are
 * merged atomically, so keys that several processes have seen count once. Client keys are not stored.
 *
 * Throws `SLUICE_BAD_OPTION` if the client or an option is invalid.
 */
export function redisUniqueStore(
  client: RedisClient | ScriptRunner,
  options: RedisUniqueStoreOptions = {},
): RedisUniqueStore {
  optionsOf('redisUniqueStore', options, ['prefix'])
  const { prefix = 'sluice' } = options
  checkPrefix('redisUniqueStore', prefix)
  return new RedisUniqueStore(scriptRunner(client), prefix)
}

/** Store returned by `redisUniqueStore`. Calls reject if Redis fails, and can be repeated safely. */
export class RedisUniqueStore {
  readonly #runner: ScriptRunner
  readonly #prefix: string

  constructor(runner: ScriptRunner, prefix: string) {
    this.#runner = runner
    this.#prefix = prefix
  }

  /**
   * Merges registers into the hash of a day by keeping the larger character at each position. The hash expires after
   * `keepMs`. Resolves with the merged registers of each entry, in the same order.
   */
  async merge(day: string, entries: readonly NamedRegisters[], keepMs: number): Promise<string[]> {
    const args = [Math.ceil(keepMs), MAX_NAMES, ...entries.flatMap(({ name, registers }) => [name, registers])]
    const merged = textsOf(await this.#runner.run(mergeRegisters, [this.#keyOf(day)], args))
    if (merged.length !== entries.length) throw invalidReply()
    return merged
  }

  /** Resolves with the registers of all names of a day; an empty array if the day is unknown or has expired. */
  async read(day: string): Promise<NamedRegisters[]> {
    const texts = textsOf(await this.#runner.run(readRegisters, [this.#keyOf(day)], []))
    return Array.from({ length: texts.length / 2 }, (_, index) => {
      return { name: texts[2 * index], registers: texts[2 * index + 1] }
    })
  }

  #keyOf(day: string): string {
    return `${this.#prefix}:{${day}}:unique-days`
  }
}

function textsOf(reply: unknown): string[] {
  if (!Array.isArray(reply)) throw invalidReply()
  return reply.map(String)
}
