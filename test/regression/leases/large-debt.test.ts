import { expect, test } from '@jest/globals'
import { type AlgorithmName, createLimiter } from '@sluice/limiter-core'
import { leasedBackend, redisBackend } from '@sluice/redis'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'

const redis = redisClientForTests()

const algorithms: readonly AlgorithmName[] = ['fixed-window', 'sliding-window', 'token-bucket', 'gcra']

test.each(algorithms.flatMap((algorithm) => [[algorithm, true] as const, [algorithm, false] as const]))(
  'with %s, a client that owes more than can ever be repaid is denied by the backend (leased: %s)',
  async (algorithm, isLeased) => {
    const backend = isLeased ? leasedBackend(redis.client) : redisBackend(redis.client)
    const policies = [{ name: 'tokens', limit: 100, window: '30d', algorithm }] as const
    const limiter = createLimiter({ policies, scope: `debt-${algorithm}-${isLeased}`, backend, deadlineMs: 20_000 })
    const taken = await limiter.take('key', 1)
    await limiter.charge('key', Number.MAX_SAFE_INTEGER, taken)
    for (let times = 0; times < 3; times++) {
      expect(await limiter.take('key', 1)).toMatchObject({ allowed: false, counted: true })
      const peeked = await limiter.peek('key')
      expect(peeked).toMatchObject({ counted: true, binding: { remaining: 0 } })
    }
    limiter.close()
    await backend.close?.()
  },
)
