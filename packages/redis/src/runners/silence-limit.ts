import type { NodeRedisClient } from './node-redis-client.ts'

/** Socket timeouts in milliseconds of clients whose own options do not show it. */
const timeouts = new WeakMap<object, number>()

/** Records the socket timeout of a client that consists of several connections. */
export function recordSocketTimeout(client: object, timeoutMs: number): void {
  timeouts.set(client, timeoutMs)
}

/**
 * Returns the milliseconds of silence after which nothing more is sent to a server. The `socketTimeout` of node-redis
 * starts again with each command that is sent, so it replaces a silent connection only if commands stop. Without a
 * socket timeout nothing would be gained, and the limit is infinite.
 */
export function silenceLimitMs(client: NodeRedisClient): number {
  const timeoutMs = timeouts.get(client) ?? optionOf(client)
  return typeof timeoutMs === 'number' && timeoutMs > 0 ? timeoutMs / 2 : Number.POSITIVE_INFINITY
}

interface WithOptions {
  readonly options?: { readonly socket?: { readonly socketTimeout?: unknown } }
}

function optionOf(client: NodeRedisClient): unknown {
  return (client as WithOptions).options?.socket?.socketTimeout
}
