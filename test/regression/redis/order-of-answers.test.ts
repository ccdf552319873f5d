import { describe, expect, test } from '@jest/globals'
import type { AlgorithmName } from '@sluice/limiter-core'
import { createRedis, leasedBackend, redisBackend } from '@sluice/redis'
import { chargedOf, Member } from '../../redis/known/member.ts'
import { forTests } from '../../services/for-tests.ts'
import { startProxy } from '../../services/proxies/tcp-proxy.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'

const redis = redisForTests()
const path = forTests(
  () => startProxy(redis.server.port),
  (proxy) => proxy.stop(),
)

// the breaker's probe is the first call of such a process, and has no deadline, so the server was not identified before
describe.each([
  ['counts exactly', false],
  ['leases', true],
])('a process that %s and started without Redis', (_what, leased) => {
  test.each<AlgorithmName>(['fixed-window', 'sliding-window', 'token-bucket', 'gcra'])(
    'reports the counts of the previous Redis to one that restarts empty, with %s',
    async (algorithm) => {
      const policy = { name: 'year', limit: 100, window: '365d', algorithm } as const
      const options = { scope: `first-${algorithm}-${leased}`, policy }
      path.current.refuse()
      path.current.cut()
      const client = createRedis(path.current.url, { retryStrategy: () => 20 })
      const member = new Member(
        client,
        leased ? leasedBackend(client, { leaseMs: 100 }) : redisBackend(client),
        options,
      )
      await member.take('of the breaker', 12)
      await path.current.accept()
      await member.ready()
      await member.takeUntilCounted('of the breaker')
      await member.take('key', 50)
      expect(member.uncounted).toBeGreaterThanOrEqual(12)
      await member.limiter.peek('key')
      await redis.server.kill()
      await redis.server.start()
      await member.takeUntilCounted('of the connection')
      await member.take('key', 1)
      await member.close()
      expect(await chargedOf(redis.server.client(), options, 'key')).toBe(51)
    },
  )
})
