import { type RedisServer, startRedis } from '../services/redis/redis-server.ts'
import { Fleet } from './fleet.ts'
import type { Group, Row } from './report/row.ts'

/** Applications that share one Redis. */
export interface Bench {
  readonly fleet: Fleet
  readonly redis: RedisServer
}

/** Server arguments that the faults require. */
const ARGS = [
  ...['--enable-debug-command', 'yes', '--enable-protected-configs', 'yes', '--busy-reply-threshold', '50'],
  ...['--loading-process-events-interval-bytes', '1024'],
]

export function groupOf(name: string, rows: readonly Row<Bench>[], apps = 2, client?: string): Group<Bench> {
  return {
    name,
    rows,
    start: async () => ({ fleet: Fleet.start(apps, client), redis: await startRedis({ args: ARGS }) }),
    stop: async ({ fleet, redis }) => {
      await fleet.stop()
      await redis.stop()
    },
  }
}
