import { describe, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { redisBackend } from '@sluice/redis'
import { eachSeed } from '@sluice/testkit'
import { Ratelimit } from '@upstash/ratelimit'
import { ownRedis } from '../redis/channel/own-redis.ts'

const redis = ownRedis()

/** The part of a client of @upstash/redis that the library uses, on a socket. */
function upstashClient(): never {
  return {
    evalsha: (sha: string, keys: string[], args: unknown[]) =>
      redis.client.evalsha(sha, keys.length, ...keys, ...args.map(String)),
    // only the servers of Upstash know the flag of its scripts
    eval: (script: string, keys: string[], args: unknown[]) =>
      redis.client.eval(script.replace(/^\s*#!lua.*\n/, ''), keys.length, ...keys, ...args.map(String)),
    get: (key: string) => redis.client.get(key),
    set: (key: string, value: string) => redis.client.set(key, value),
  } as never
}

describe('from @upstash/ratelimit', () => {
  test.each([
    ['fixed-window', Ratelimit.fixedWindow(8, '365 d')],
    ['sliding-window', Ratelimit.slidingWindow(8, '365 d')],
    ['token-bucket', Ratelimit.tokenBucket(8, '365 d', 8)],
  ] as const)('within one window, limit and take admit the same calls: %s', async (algorithm, limiter) => {
    await eachSeed(3, async (random, seed) => {
      const prefix = `${algorithm}-${seed}`
      const before = new Ratelimit({ redis: upstashClient(), limiter, prefix, ephemeralCache: false })
      const backend = redisBackend(redis.client, { prefix })
      const after = createLimiter({ name: 'api', limit: 8, window: '365d', algorithm, backend, deadlineMs: 5_000 })
      for (let call = 0; call < 30; call++) {
        const user = `user ${random.whole(2)}`
        const rate = 1 + random.whole(3)
        const { success, remaining } = await before.limit(user, { rate })
        const { allowed, binding } = await after.take(user, rate)
        expect([call, allowed]).toEqual([call, success])
        if (allowed) expect(binding.remaining).toBe(remaining)
      }
      await before.resetUsedTokens('user 0')
      await after.reset('user 0')
      expect((await after.peek('user 0')).binding.remaining).toBe((await before.getRemaining('user 0')).remaining)
      after.close()
      backend.close?.()
    })
  })

  test('a Redis that does not answer admitted everything, and now the process counts', async () => {
    const silent = { evalsha: () => new Promise(() => {}), get: () => new Promise(() => {}), set: () => {} } as never
    const before = new Ratelimit({ redis: silent, limiter: Ratelimit.fixedWindow(1, '1 h'), timeout: 20 })
    const run = () => new Promise<never>(() => {})
    const backend = redisBackend({ run })
    const after = createLimiter({ limit: 1, window: '1h', backend, deadlineMs: 20 })
    const admitted = [(await before.limit('a')).success, (await before.limit('a')).success]
    expect(admitted).toEqual([true, true])
    expect([(await after.take('a')).allowed, (await after.take('a')).allowed]).toEqual([true, false])
    after.close()
    backend.close?.()
  })
})
