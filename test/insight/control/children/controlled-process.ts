import { type ControlEntry, type ControlRequest, createInsight, type Insight } from '@sluice/insight'
import { createLimiter, type Limiter } from '@sluice/limiter-core'
import { createRedis, redisBackend, redisChannel } from '@sluice/redis'

let insight: Insight
let limiter: Limiter

/** Resolves when the process has loaded its modules. */
export function load(): void {}

export function join(url: string, secret: string): void {
  const client = createRedis(url)
  insight = createInsight({
    channel: redisChannel(client),
    secret,
    control: { limits: { api: { min: 1, max: 1_000 } } },
  })
  const policies = [{ name: 'api', limit: 2, window: '1h', algorithm: 'fixed-window' }] as const
  limiter = createLimiter({ policies, backend: redisBackend(client), deadlineMs: 5_000, observers: [insight] })
}

/** Returns the source of the decision, and whether the take was allowed. */
export async function take(key: string): Promise<string> {
  const { allowed, source } = await limiter.take(key)
  return `${source} ${allowed ? 'allowed' : 'denied'}`
}

export function control(request: ControlRequest): Promise<ControlEntry> {
  return insight.control(request)
}

export function undo(id: string): Promise<boolean> {
  return insight.undo(id)
}

export async function explain(key: string): Promise<readonly string[]> {
  return (await insight.explain(key)).summary
}
