import { createLimiter, type Limiter } from '@sluice/limiter-core'
import { createRedis, redisBackend } from '@sluice/redis'

let limiter: Limiter

export async function start(url: string, limit: number): Promise<void> {
  const backend = redisBackend(createRedis(url, { retryStrategy: () => 20 }))
  limiter = createLimiter({
    policies: [{ name: 'api', limit, window: '1h', algorithm: 'fixed-window', backend }],
    scope: 'processes',
  })
}

/** Takes units one at a time for `forMs`. Returns how many were admitted. */
export async function taken(key: string, forMs: number): Promise<number> {
  let admitted = 0
  const takes: Promise<void>[] = []
  for (const endsAt = Date.now() + forMs; Date.now() < endsAt; ) {
    takes.push(
      Promise.resolve(limiter.take(key)).then(({ allowed }) => {
        if (allowed) admitted++
      }),
    )
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await Promise.all(takes)
  return admitted
}

/** Takes a unit. Returns the source of the decision. */
export async function source(key: string): Promise<string> {
  return (await limiter.take(key)).source
}

export async function left(key: string): Promise<number> {
  return (await limiter.peek(key)).binding.remaining
}
