import type { IoRedisClient } from '../client/redis-client.ts'
import type { ValkeyGlideClient } from './glide-client.ts'
import type { NodeRedisClient } from './node-redis-client.ts'

/** A client of ioredis 5 or 6, iovalkey, node-redis 5 or 6, or valkey-glide 2, recognised by its methods. */
export type RedisClient = IoRedisClient | NodeRedisClient | ValkeyGlideClient
