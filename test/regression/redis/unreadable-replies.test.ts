import { expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import type { ScriptRunner } from '@sluice/limiter-core/backend'
import { redisBackend } from '@sluice/redis'
import { FakeClock } from '@sluice/testkit'
import { chargedOf } from '../../redis/known/member.ts'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'

const redis = redisClientForTests()

test('a take whose reply cannot be read is counted once', async () => {
  const clock = new FakeClock({ nowMs: 1_000 })
  let isReadable = true
  const runner: ScriptRunner = {
    async run(script, keys, args) {
      const reply = await redis.client.eval(script.text, keys.length, ...keys, ...args)
      return isReadable ? reply : 'a reply of another script'
    },
  }
  const backend = redisBackend(runner, { clock })
  const policy = { name: 'calls', limit: 100, window: '1h', algorithm: 'fixed-window' } as const
  const limiter = createLimiter({ policies: [policy], scope: 'unreadable', backend, clock, deadlineMs: 20_000 })
  await limiter.take('key', 1)
  isReadable = false
  expect(await limiter.take('key', 10)).toMatchObject({ allowed: true, counted: false })
  expect(await chargedOf(redis.client, { scope: 'unreadable', policy }, 'key')).toBe(11)
  isReadable = true
  await limiter.take('key', 1)
  expect(await chargedOf(redis.client, { scope: 'unreadable', policy }, 'key')).toBe(12)
  limiter.close()
})
