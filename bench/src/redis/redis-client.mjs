import { once } from 'node:events'
import { Redis } from 'ioredis'

/** A connected client with ordinary options, the same for every contender. */
export async function connect(port) {
  const client = new Redis(port, '127.0.0.1')
  await once(client, 'ready')
  return client
}

/** A client for a server that is not running. */
export function connectToNothing() {
  const client = new Redis(1, '127.0.0.1', { enableOfflineQueue: false, retryStrategy: () => 1_000 })
  client.on('error', () => {})
  return client
}
