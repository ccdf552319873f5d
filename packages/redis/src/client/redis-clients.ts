import type { ScriptRunner } from '@sluice/limiter-core'
import type { RedisClient } from './redis-client.ts'

/** Clients of several servers, by names that all processes have in common. */
export type RedisClients = Readonly<Record<string, RedisClient | ScriptRunner>>

/** Whether these are several clients by name, and not one. */
export function isRedisClients(client: RedisClient | ScriptRunner | RedisClients): client is RedisClients {
  if (typeof client !== 'object' || client === null || Array.isArray(client)) return false
  return Object.getPrototypeOf(client) === Object.prototype && !('run' in client) && !('evalsha' in client)
}
