import type { RedisServer } from '../services/redis/redis-server.ts'
import { Fleet } from './fleet.ts'
import type { Group, Row } from './report/row.ts'
import { type RedisStore, redisKind } from './stores/redis-store.ts'
import type { StoreBench } from './stores/store-server.ts'

/** Applications that share one Redis. */
export interface Bench extends StoreBench<RedisStore> {
  readonly redis: RedisServer
}

export function groupOf(name: string, rows: readonly Row<Bench>[], apps = 2, client?: string): Group<Bench> {
  return {
    name,
    rows,
    start: async () => {
      const server = await redisKind.start()
      return { fleet: Fleet.start(apps, client), server, redis: server.redis }
    },
    stop: async ({ fleet, server }) => {
      await fleet.stop()
      await server.stop()
    },
  }
}
