import { once } from 'node:events'
import { createInflightLimiter, type InflightLimiter } from '@sluice/limiter-core'
import { systemClock } from '@sluice/limiter-core/backend'
import { createRedis, type RedisInflightOptions, redisInflight } from '@sluice/redis'

// a process whose tasks compete with other processes for the permits of one cap

let cap: InflightLimiter

interface Work {
  readonly tasks: number
  readonly ms: number
  readonly holdMs: number
  readonly retryMs: number
}

export async function join(url: string, limit: number, options: RedisInflightOptions): Promise<void> {
  const client = createRedis(url)
  if (client.status !== 'ready') await once(client, 'ready')
  cap = createInflightLimiter({ name: 'contended', limit, backend: redisInflight(client, options) })
}

/** Each task acquires a permit, holds it and acquires again, for the given time. */
export async function contend({ tasks, ms, holdMs, retryMs }: Work): Promise<{ permits: number; asks: number }> {
  const endsAt = systemClock.now() + ms
  let permits = 0
  let asks = 0
  const task = async (): Promise<void> => {
    while (systemClock.now() < endsAt) {
      asks++
      const permit = await cap.acquire('k')
      if (permit) permits++
      await new Promise<void>((resolve) => systemClock.after(permit ? holdMs : retryMs, resolve))
      permit?.release()
    }
  }
  await Promise.all(Array.from({ length: tasks }, task))
  return { permits, asks }
}
