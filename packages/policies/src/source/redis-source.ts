import { createHash } from 'node:crypto'
import { optionsOf } from '@sluice/limiter-core/backend'
import type { WritablePolicySource } from './policy-source.ts'
import { RedisHash, type RedisPolicyClient } from './redis-hash.ts'
import { StoredSource, type StoredSourceOptions } from './stored-source.ts'

export type RedisSourceOptions = StoredSourceOptions

const PUBLISH = `local version = redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('HSET', KEYS[1], 'text', ARGV[1], 'sha256', ARGV[2])
return version`

/**
 * Creates a source for a document in Redis: a hash with the fields `text`, `version` and `sha256`, which `publish`
 * writes. Each look at the source reads only the version and the digest. The caller closes `client`, a client of ioredis,
 * iovalkey or node-redis.
 *
 * Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`.
 */
export function redisSource(
  client: RedisPolicyClient,
  key: string,
  options: RedisSourceOptions = {},
): WritablePolicySource {
  return new RedisSource(client, key, optionsOf('redisSource', options, ['timeoutMs', 'clock']))
}

class RedisSource extends StoredSource {
  readonly name: string
  readonly #hash: RedisHash
  /** Version and digest of the text that was read last. After a loss of all data, versions begin at 1 again. */
  #mark: string | undefined

  constructor(client: RedisPolicyClient, key: string, options: RedisSourceOptions) {
    super('redisSource', options)
    this.#hash = new RedisHash('redisSource', client, key)
    this.name = `redis:${key}`
  }

  protected async load(): Promise<string | undefined> {
    if (this.#mark !== undefined && markOf(await this.#get(['version', 'sha256'])) === this.#mark) return undefined
    const values = await this.#get(['version', 'sha256', 'text'])
    const text = values[2]
    if (text === undefined || text === null) throw new Error('expected a hash with the field text, received none')
    this.#mark = markOf(values)
    return String(text)
  }

  protected async store(text: string): Promise<number> {
    const digest = createHash('sha256').update(text).digest('hex')
    return Number(await this.inTime(this.#hash.run(PUBLISH, [text, digest])))
  }

  #get(fields: string[]): Promise<readonly unknown[]> {
    return this.inTime(this.#hash.get(fields))
  }
}

function markOf([version, digest]: readonly unknown[]): string {
  return `${version} ${digest}`
}
