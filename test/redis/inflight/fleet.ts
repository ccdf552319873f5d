import { once } from 'node:events'
import { type InflightBackend, systemClock } from '@sluice/limiter-core/backend'
import { type RedisInflightOptions, redisInflight } from '@sluice/redis'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'

export type RedisClass = typeof Redis

/** Both supported versions, as rows of a test table. */
export const clients: readonly (readonly [version: string, client: RedisClass])[] = [
  ['ioredis 6', Redis],
  ['ioredis 5', Redis5 as unknown as RedisClass],
]

/** Simulated processes of a fleet, each with its own connection. */
export class Fleet {
  readonly #port: number
  readonly #clients: Redis[] = []
  readonly #backends: InflightBackend[] = []

  constructor(port: number) {
    this.#port = port
  }

  /** Creates a client that is ready. */
  async client(Client: RedisClass = Redis): Promise<Redis> {
    const client = new Client({
      port: this.#port,
      host: '127.0.0.1',
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => 20,
    })
    client.on('error', () => {})
    this.#clients.push(client)
    await once(client, 'ready')
    return client
  }

  async member(options: RedisInflightOptions, Client?: RedisClass): Promise<InflightBackend> {
    return this.backend(await this.client(Client), options)
  }

  backend(client: Parameters<typeof redisInflight>[0], options: RedisInflightOptions): InflightBackend {
    const backend = redisInflight(client, options)
    this.#backends.push(backend)
    return backend
  }

  async close(): Promise<void> {
    for (const backend of this.#backends) await backend.close?.()
    for (const client of this.#clients) client.disconnect()
  }
}

/** Polls until the value is as expected. */
export async function eventually<T>(
  read: () => T | Promise<T>,
  expected: T,
  { timeoutMs = 60_000 }: { timeoutMs?: number } = {},
): Promise<void> {
  const deadlineAt = systemClock.now() + timeoutMs
  let last = await read()
  while (last !== expected) {
    if (systemClock.now() > deadlineAt) throw new Error(`was still ${last} after ${timeoutMs} ms, expected ${expected}`)
    await new Promise<void>((resolve) => systemClock.after(2, resolve))
    last = await read()
  }
}
