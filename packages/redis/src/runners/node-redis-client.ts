/**
 * The part of a node-redis client that Sluice uses: a connected client of `createClient`, `createClientPool`,
 * `createSentinel` or `createCluster` of node-redis 5 and 6.
 */
export interface NodeRedisClient {
  evalSha(sha: string, options: NodeRedisArguments): Promise<unknown>
  eval(text: string, options: NodeRedisArguments): Promise<unknown>
  on(event: string, listener: (...args: unknown[]) => void): unknown
  off(event: string, listener: (...args: unknown[]) => void): unknown
  /** Whether `connect` was called and `close` was not. */
  readonly isOpen: boolean
}

interface NodeRedisArguments {
  keys: string[]
  arguments: string[]
}

/** The additional part of a single client and of a sentinel. Pools do not have it. */
export interface NodeRedisConnection extends NodeRedisClient {
  /** Whether commands are sent at once. */
  readonly isReady: boolean
}

/** The additional part of a cluster. */
export interface NodeRedisCluster extends NodeRedisClient {
  /** The shard of each hash slot, undefined until the slots are known. */
  readonly slots: readonly ({ readonly master: { readonly host: string; readonly port: number } } | undefined)[]
  /** Sends a command to the node of `firstKey`, or to any node if it is undefined. */
  sendCommand(firstKey: string | undefined, isReadonly: boolean, args: readonly string[]): Promise<unknown>
}

export function isNodeRedis(client: unknown): client is NodeRedisClient {
  const { evalSha, on, isOpen } = (client ?? {}) as Partial<NodeRedisClient>
  return typeof evalSha === 'function' && typeof on === 'function' && typeof isOpen === 'boolean'
}

export function isNodeRedisCluster(client: NodeRedisClient): client is NodeRedisCluster {
  return Array.isArray((client as Partial<NodeRedisCluster>).slots)
}

export function isNodeRedisConnection(client: NodeRedisClient): client is NodeRedisConnection {
  return !isNodeRedisCluster(client) && typeof (client as Partial<NodeRedisConnection>).isReady === 'boolean'
}
