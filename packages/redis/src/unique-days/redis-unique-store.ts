import { optionsOf, type ScriptRunner } from '@sluice/limiter-core/backend'
import { checkPrefix } from '../client/entity-key.ts'
import type { RedisClient } from '../client/redis-client.ts'
import { noReply } from '../client/redis-failure.ts'
import { runnerOf } from '../client/script-runner.ts'
import { mergeRegisters, readRegisters } from '../lua/scripts.ts'

export interface RedisUniqueStoreOptions {
  /** First part of every name in Redis; default: `sluice`. 1 to 64 characters, without braces. The same in all processes. */
  readonly prefix?: string | undefined
}

/** Registers of one name, one ASCII character each. */
interface NamedRegisters {
  readonly name: string
  readonly registers: string
}

/** Most names per day; registers of further names are not stored. */
const MOST_NAMES = 256

/**
 * Stores unique keys by day for `unique.store` of `createInsight`, on Redis or Redis Cluster: one hash per day, of 4
 * KB plus 320 bytes per route, which expires when it is too old. Registers of several processes are merged in one
 * script call, so that nothing is lost between them and duplicates count once. Keys of clients are not stored. Throws
 * `SLUICE_BAD_OPTION`.
 */
export function redisUniqueStore(
  client: RedisClient | ScriptRunner,
  options: RedisUniqueStoreOptions = {},
): RedisUniqueStore {
  optionsOf('redisUniqueStore', options, ['prefix'])
  const { prefix = 'sluice' } = options
  checkPrefix('redisUniqueStore', prefix)
  return new RedisUniqueStore(runnerOf(client), prefix)
}

/** Made by `redisUniqueStore`. Its calls reject where Redis does not answer, and may be repeated then. */
export class RedisUniqueStore {
  readonly #runner: ScriptRunner
  readonly #prefix: string

  constructor(runner: ScriptRunner, prefix: string) {
    this.#runner = runner
    this.#prefix = prefix
  }

  /**
   * Keeps the larger character at each position of each name, for `keepMs` from now on. Resolves with what is stored
   * then.
   */
  async merge(day: string, entries: readonly NamedRegisters[], keepMs: number): Promise<string[]> {
    const args = [Math.ceil(keepMs), MOST_NAMES, ...entries.flatMap(({ name, registers }) => [name, registers])]
    const merged = textsOf(await this.#runner.run(mergeRegisters, [this.#keyOf(day)], args))
    if (merged.length !== entries.length) throw noReply()
    return merged
  }

  /** Returns all names of a day; empty if it has expired. */
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
  if (!Array.isArray(reply)) throw noReply()
  return reply.map(String)
}
