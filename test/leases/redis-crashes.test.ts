import { once } from 'node:events'
import { expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { systemClock } from '@sluice/limiter-core/backend'
import { leasedBackend } from '@sluice/redis'
import { Redis } from 'ioredis'
import { startRedis } from '../services/redis/redis-server.ts'

test('an exhausted leased key stays exhausted while Redis is killed and restarts empty, and is leased again', async () => {
  const server = await startRedis()
  const client = new Redis(server.port, { retryStrategy: () => 50, maxRetriesPerRequest: 0, enableOfflineQueue: false })
  client.on('error', () => {})
  await once(client, 'ready')
  const backend = leasedBackend(client)
  const policies = [{ name: 'minute', limit: 500, window: '1m', algorithm: 'fixed-window' }] as const
  // the deadline is long, so that a busy machine alone causes no failures
  const limiter = createLimiter({ policies, backend, deadlineMs: 2_000 })
  const admitted: string[] = []
  const takeUntil = async (done: (source: string) => boolean): Promise<void> => {
    for (let takes = 0; takes < 4_000; takes++) {
      const decision = await limiter.take('a')
      if (decision.allowed) admitted.push(decision.source)
      if (done(decision.source)) return
      await new Promise<void>((resolve) => systemClock.after(2, resolve))
    }
    throw new Error('what was waited for did not come about')
  }
  try {
    for (let takes = 0; takes < 600; takes++) if ((await limiter.take('a')).allowed) admitted.push('before')
    expect(admitted.length).toBe(500)
    await server.kill()
    await takeUntil((source) => source === 'local')
    await server.restart()
    await takeUntil((source) => source === 'leased')
    const again = await limiter.take('b')
    expect([again.allowed, again.source]).toEqual([true, 'leased'])
    for (let takes = 0; takes < 200; takes++) if ((await limiter.take('a')).allowed) admitted.push('after')
    expect(admitted.length).toBe(500)
  } finally {
    await backend.close?.()
    client.disconnect()
    await server.stop()
  }
})
