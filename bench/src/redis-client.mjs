import { once } from 'node:events'
import { Redis } from 'ioredis'

/** A client as its users make it, connected: the same one for every contender. */
export async function connect(port) {
  const client = new Redis(port, '127.0.0.1')
  await once(client, 'ready')
  return client
}

/** A client of a server that is not there. */
export function connectToNothing() {
  const client = new Redis(1, '127.0.0.1', { enableOfflineQueue: false, retryStrategy: () => 1_000 })
  client.on('error', () => {})
  return client
}
