import type { IoRedisClient } from '../client/redis-client.ts'
import type { UpstashRedisClient } from '../rest/upstash-client.ts'
import type { ValkeyGlideClient } from './glide-client.ts'
import type { NodeRedisClient } from './node-redis-client.ts'

/** A client of ioredis 5 or 6, iovalkey, node-redis 5 or 6, valkey-glide 2 or @upstash/redis 1, known by its methods. */
export type RedisClient = IoRedisClient | NodeRedisClient | ValkeyGlideClient | UpstashRedisClient
