/** The part of a Redis connection that Sluice uses, for example a `Redis` of ioredis 5 or 6. */
export interface RedisConnection {
  readonly status: string
  on(event: string, listener: (...args: unknown[]) => void): unknown
  off(event: string, listener: (...args: unknown[]) => void): unknown
  /** Connects a client that was created with `lazyConnect` and has the status `wait`. */
  connect?(): Promise<unknown>
  /** Sends commands together. Each is the name of a method and its arguments. */
  pipeline?(commands: string[][]): RedisPipeline
}

/** Commands that are sent together. */
interface RedisPipeline {
  /** Resolves with an error or a reply for each command. */
  exec(): Promise<[error: Error | null, reply: unknown][] | null>
}

/** The part of an ioredis client that Sluice uses: a `Redis` or `Cluster` of ioredis 5 and 6, or of iovalkey. */
export interface IoRedisClient extends RedisConnection {
  evalsha(sha: string, keyCount: number, ...keysAndArgs: (string | number)[]): Promise<unknown>
  eval(text: string, keyCount: number, ...keysAndArgs: (string | number)[]): Promise<unknown>
  readonly isCluster?: boolean
  readonly options?: { readonly keyPrefix?: string | undefined }
}

/** The additional part of a `Cluster` of ioredis that Sluice uses. */
export interface RedisClusterClient extends IoRedisClient {
  readonly options: { readonly keyPrefix?: string | undefined }
  /** Names of the nodes that serve each hash slot, the master first. */
  readonly slots: readonly (readonly string[] | undefined)[]
  nodes(role: 'master' | 'all'): readonly RedisNode[]
  /** Requests the current slot table from a node. Does nothing if such a request is in progress. */
  refreshSlotsCache(): void
}

/** Whether a command can be sent now. */
export function acceptsCommands(connection: RedisConnection): boolean {
  return connection.status === 'ready' && !isClosing(connection)
}

/**
 * Whether `quit` or `disconnect` was called. A command behind QUIT makes the server reset the connection, so that the
 * client may lose the last answers.
 */
export function isClosing(connection: RedisConnection): boolean {
  // a private property of the clients
  return (connection as RedisConnection & { readonly manuallyClosing?: boolean }).manuallyClosing === true
}

/** A connection to one node of a cluster. */
export interface RedisNode extends RedisConnection {
  readonly options: { readonly host?: string | undefined; readonly port?: number | undefined }
}

export function isCluster(client: IoRedisClient): client is RedisClusterClient {
  return client.isCluster === true
}
