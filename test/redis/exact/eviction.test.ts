import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { redisBackend } from '@sluice/redis'
import { Warnings } from '@sluice/testkit'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'
import { ownPrefix } from './own-prefix.ts'

const warnings = new Warnings()
const redis = redisClientForTests()

beforeEach(() => warnings.listen())
afterEach(() => warnings.stop())

test.each([
  ['allkeys-lru', '100mb', ['SLUICE_REDIS_EVICTION']],
  ['volatile-ttl', '100mb', ['SLUICE_REDIS_EVICTION']],
  ['noeviction', '100mb', []],
  ['allkeys-lru', '0', []],
])('with policy %s and maxmemory %s a limiter warns %j, once', async (evicting, maxmemory, codes) => {
  await redis.client.config('SET', 'maxmemory', maxmemory, 'maxmemory-policy', evicting)
  for (let limiters = 0; limiters < 2; limiters++) {
    const backend = redisBackend(redis.client, { prefix: ownPrefix() })
    const limiter = createLimiter({ policies: [{ limit: 5, window: '1m' }], backend, deadlineMs: 5_000 })
    expect(await limiter.take('a')).toMatchObject({ allowed: true, counted: true })
    limiter.close()
  }
  expect(warnings.codes).toEqual(codes)
})

test('an ACL that hides the memory settings of Redis does not affect decisions', async () => {
  await redis.client.config('SET', 'maxmemory', '100mb', 'maxmemory-policy', 'allkeys-lru')
  await redis.client.acl('SETUSER', 'limiter', 'on', 'nopass', '~*', '+@all', '-info')
  const limited = redis.server.client({ username: 'limiter', password: 'any' })
  await limited.ping()
  const backend = redisBackend(limited, { prefix: ownPrefix() })
  const limiter = createLimiter({ policies: [{ limit: 5, window: '1m' }], backend, deadlineMs: 5_000 })
  expect(await limiter.take('a')).toMatchObject({ allowed: true, counted: true })
  limiter.close()
  expect(warnings.codes).toEqual([])
})
