import { badOption } from '@sluice/limiter-core/backend'

/** The part of a client of ioredis or iovalkey that a policy source uses. */
interface IoRedisHashes {
  hmget(key: string, ...fields: string[]): Promise<unknown>
  eval(script: string, keys: number, ...args: string[]): Promise<unknown>
}

/** The part of a client of node-redis that a policy source uses. */
interface NodeRedisHashes {
  hmGet(key: string, fields: string[]): Promise<unknown>
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
}

/** A client of ioredis 5 or 6, iovalkey, or node-redis 5 or 6, of one server, a Sentinel or a cluster. */
export type RedisPolicyClient = IoRedisHashes | NodeRedisHashes

/** A hash in Redis, through either kind of client. */
export class RedisHash {
  readonly #client: RedisPolicyClient
  readonly #key: string

  /** Throws `SLUICE_BAD_OPTION` if `client` is not a client. `owner` is the start of the message. */
  constructor(owner: string, client: RedisPolicyClient, key: string) {
    const { eval: evaluate } = (client ?? {}) as Partial<RedisPolicyClient>
    if (typeof evaluate !== 'function' || !(isNodeRedis(client) || isIoRedis(client))) {
      throw badOption(`${owner}: client`, client, 'a client of ioredis, iovalkey or node-redis')
    }
    if (typeof key !== 'string' || key === '') throw badOption(`${owner}: key`, key, 'the name of a key')
    this.#client = client
    this.#key = key
  }

  /** Returns the values of fields, with null for a field that does not exist. */
  async get(fields: string[]): Promise<readonly unknown[]> {
    const client = this.#client
    const values = isNodeRedis(client)
      ? await client.hmGet(this.#key, fields)
      : await client.hmget(this.#key, ...fields)
    return values as readonly unknown[]
  }

  /** Runs a script with the key of the hash. */
  run(script: string, args: string[]): Promise<unknown> {
    const client = this.#client
    if (isNodeRedis(client)) return client.eval(script, { keys: [this.#key], arguments: args })
    return client.eval(script, 1, this.#key, ...args)
  }
}

function isNodeRedis(client: RedisPolicyClient): client is NodeRedisHashes {
  return typeof (client as Partial<NodeRedisHashes>).hmGet === 'function'
}

function isIoRedis(client: RedisPolicyClient): client is IoRedisHashes {
  return typeof (client as Partial<IoRedisHashes>).hmget === 'function'
}
