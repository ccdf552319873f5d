/** What Sluice needs of a connection; a `Redis` of ioredis 5 or 6 satisfies it. */
export interface RedisConnection {
  readonly status: string
  on(event: string, listener: (...args: unknown[]) => void): unknown
  off(event: string, listener: (...args: unknown[]) => void): unknown
  /** Present on clients that connect later, with the status `wait`. */
  connect?(): Promise<unknown>
}

/** What Sluice needs of a client; a `Redis` or a `Cluster` of ioredis 5 or 6 satisfies it. */
export interface RedisClient extends RedisConnection {
  evalsha(sha: string, keyCount: number, ...keysAndArgs: (string | number)[]): Promise<unknown>
  eval(text: string, keyCount: number, ...keysAndArgs: (string | number)[]): Promise<unknown>
  readonly isCluster?: boolean
}

/** What Sluice additionally needs of a `Cluster`. */
export interface RedisClusterClient extends RedisClient {
  readonly options: { readonly keyPrefix?: string | undefined }
  /** By hash slot: names of its nodes, the master first. */
  readonly slots: readonly (readonly string[] | undefined)[]
  nodes(role: 'master' | 'all'): readonly RedisNode[]
  /** Asks a node for the current slots; has no effect while it is running. */
  refreshSlotsCache(): void
}

/** A connection to one node of a cluster. */
export interface RedisNode extends RedisConnection {
  readonly options: { readonly host?: string | undefined; readonly port?: number | undefined }
}

export function isCluster(client: RedisClient): client is RedisClusterClient {
  return client.isCluster === true
}
