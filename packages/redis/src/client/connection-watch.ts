import { type IoRedisClient, isCluster, type RedisConnection } from './redis-client.ts'

type Listener = (about?: unknown) => void

export interface ConnectionEvents {
  lost(connection: RedisConnection): void
  back(connection: RedisConnection): void
  /** Called with the error of a connection that broke or could not be made. */
  failed(error: unknown): void
}

/**
 * Reports when a connection of a client breaks and when it is ready again. In a cluster, the connection to each node is
 * reported too. While it listens, ioredis does not print failed reconnects.
 */
export class ConnectionWatch {
  readonly #events: ConnectionEvents
  readonly #stops = new Map<RedisConnection, () => void>()
  readonly #broken = new Set<RedisConnection>()

  constructor(client: IoRedisClient, events: ConnectionEvents) {
    this.#events = events
    const failed = { error: (error: unknown) => events.failed(error) }
    this.#add(client, { ...failed, ...(isCluster(client) ? this.#nodeListeners() : {}) })
    if (isCluster(client)) for (const node of client.nodes('all')) this.#add(node)
  }

  /** Removes all listeners from the client. */
  close(): void {
    for (const stop of this.#stops.values()) stop()
    this.#stops.clear()
  }

  #nodeListeners(): Record<string, Listener> {
    return {
      '+node': (node) => this.#add(node as RedisConnection),
      '-node': (node) => this.#remove(node as RedisConnection),
      'node error': (error) => this.#events.failed(error),
    }
  }

  #remove(node: RedisConnection): void {
    this.#stops.get(node)?.()
    this.#stops.delete(node)
    this.#lost(node)
    this.#broken.delete(node)
  }

  #add(connection: RedisConnection, others: Readonly<Record<string, Listener>> = {}): void {
    const listeners = Object.entries({
      close: () => this.#lost(connection),
      ready: () => this.#back(connection),
      ...others,
    })
    for (const [event, listener] of listeners) connection.on(event, listener)
    this.#stops.set(connection, () => {
      for (const [event, listener] of listeners) connection.off(event, listener)
    })
  }

  #lost(connection: RedisConnection): void {
    if (this.#broken.has(connection)) return
    this.#broken.add(connection)
    this.#events.lost(connection)
  }

  #back(connection: RedisConnection): void {
    this.#broken.delete(connection)
    this.#events.back(connection)
  }
}
