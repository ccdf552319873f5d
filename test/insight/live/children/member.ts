import { createInsight, type Insight, type InsightSnapshot } from '@sluice/insight'
import { createLimiter } from '@sluice/limiter-core'
import { type Clock, systemClock } from '@sluice/limiter-core/backend'
import { createRedis, type RedisChannel, redisChannel } from '@sluice/redis'

const FASTER = 5

// lets the test wait less than the real time until a silent process is removed
const clock: Clock = {
  now: () => systemClock.now() * FASTER,
  wall: () => systemClock.wall(),
  after: (ms, run, options) => systemClock.after(ms / FASTER, run, options),
}

let channel: RedisChannel
let insight: Insight

export function join(url: string, secret: string): void {
  channel = redisChannel(createRedis(url), { tickMs: 50 })
  insight = createInsight({ channel, secret, privacy: 'full', clock })
}

/** Takes `times` units of a limit of 100. */
export async function take(key: string, times: number): Promise<void> {
  const limiter = createLimiter({ policies: [{ name: 'api', limit: 100, window: '1h' }], observers: [insight] })
  for (let taken = 0; taken < times; taken++) await limiter.take(key)
}

export function snapshot(): InsightSnapshot {
  return insight.snapshot()
}
