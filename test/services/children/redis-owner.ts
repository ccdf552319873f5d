import { type RedisServer, startRedis } from '../redis/redis-server.ts'

let redis: RedisServer | undefined

export async function own(): Promise<{ pid: number; folder: string }> {
  redis = await startRedis()
  return { pid: redis.pid, folder: redis.folder }
}
