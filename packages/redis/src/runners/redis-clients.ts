import type { ScriptRunner } from '@sluice/limiter-core'
import type { RedisClient } from './redis-client.ts'

/** Clients of several Redis servers by name. All processes must use the same names. */
export type RedisClients = Readonly<Record<string, RedisClient | ScriptRunner>>

/** Whether `client` is a plain object of several clients by name rather than a single client or runner. */
export function isRedisClients(client: RedisClient | ScriptRunner | RedisClients): client is RedisClients {
  if (typeof client !== 'object' || client === null || Array.isArray(client)) return false
  return Object.getPrototypeOf(client) === Object.prototype && !('run' in client) && !('evalsha' in client)
}
