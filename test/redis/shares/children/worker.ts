import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { createInflightLimiter, type InflightLimiter } from '@sluice/limiter-core'
import { systemClock } from '@sluice/limiter-core/backend'
import { type AdaptiveOptions, adaptive } from '@sluice/overload'
import { createRedis, type RedisInflightOptions, redisInflight } from '@sluice/redis'

// a process of a fleet whose tasks work on a database behind an adaptive cap

let cap: InflightLimiter
let database: Socket
let works = 0
let done = 0
let isStopped = false
const waiting = new Map<number, () => void>()
const unhandled: string[] = []

process.on('unhandledRejection', (error) => unhandled.push(String(error)))

/** Without `redis`, this process learns alone. */
export async function join(
  port: number,
  options: AdaptiveOptions,
  redis?: { readonly url: string; readonly options: RedisInflightOptions },
): Promise<void> {
  database = connect(port, '127.0.0.1')
  await once(database, 'connect')
  createInterface({ input: database }).on('line', (line) => {
    waiting.get(Number(line))?.()
    waiting.delete(Number(line))
  })
  const limit = adaptive(options)
  if (!redis) {
    cap = createInflightLimiter({ name: 'database', limit })
    return
  }
  const client = createRedis(redis.url)
  if (client.status !== 'ready') await once(client, 'ready')
  cap = createInflightLimiter({ name: 'database', limit, backend: redisInflight(client, redis.options) })
}

/** Each task works as often as it gets a permit, until `stop`. */
export function start(tasks: number): void {
  for (let started = 0; started < tasks; started++) void task()
}

async function task(): Promise<void> {
  while (!isStopped) {
    const permit = await cap.acquire()
    if (permit) {
      await new Promise<void>((resolve) => {
        waiting.set(++works, resolve)
        database.write(`${works}\n`)
      })
      permit.release()
      done++
    } else await new Promise<void>((resolve) => systemClock.after(20, resolve))
  }
}

export function stop(): void {
  isStopped = true
}

export function seen(): { readonly done: number; readonly limit: number; readonly unhandled: readonly string[] } {
  return { done, limit: cap.limit, unhandled }
}
