import { beforeEach, expect, test } from '@jest/globals'
import type { Policy } from '@sluice/limiter-core'
import { redisBackend } from '@sluice/redis'
import { chargeOf } from '../../redis/exact/charge.ts'
import { ownPrefix } from '../../redis/exact/own-prefix.ts'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'

const minuteMs = 60_000

const redis = redisClientForTests()
let prefix: string

beforeEach(() => {
  prefix = ownPrefix()
})

/** Returns the remaining life in ms of the only key. */
async function lifeMs(): Promise<number> {
  const [key] = await redis.client.keys(`${prefix}*`)
  return redis.client.pttl(key)
}

test('a take with a lower rate than the last one makes the key of a bucket live longer', async () => {
  const backend = redisBackend(redis.client, { prefix })
  const policy: Policy = { name: 'p', algorithm: 'token-bucket', limit: 1_000, burst: 1_000, windowMs: minuteMs }
  await backend.takeAll([chargeOf(backend, policy, 'a', 300)])
  // the new limit drains the 300 units in half an hour instead of 18 seconds
  const { verdicts } = await backend.takeAll([chargeOf(backend, { ...policy, limit: 10 }, 'a')])
  expect(verdicts[0].resetAfterMs).toBeGreaterThan(29 * minuteMs)
  expect(await lifeMs()).toBeGreaterThan(verdicts[0].resetAfterMs - minuteMs)
})

test('a take after the clock was set back makes the key of a gcra live until its end', async () => {
  let now = 1_700_000_000_000
  const backend = redisBackend(redis.client, { prefix, serverTime: () => now })
  const policy: Policy = { name: 'p', algorithm: 'gcra', limit: 60, burst: 10_000, windowMs: minuteMs }
  await backend.takeAll([chargeOf(backend, policy, 'a')])
  now -= 60 * minuteMs
  const { verdicts } = await backend.takeAll([chargeOf(backend, policy, 'a')])
  expect(verdicts[0]).toMatchObject({ allowed: true, resetAfterMs: 60 * minuteMs + 2_000 })
  expect(await lifeMs()).toBeGreaterThan(verdicts[0].resetAfterMs)
})

test('the time until a huge debt has drained is never negative', async () => {
  const backend = redisBackend(redis.client, { prefix })
  const policy: Policy = { name: 'p', algorithm: 'token-bucket', limit: 1, windowMs: 86_400_000 }
  const charge = chargeOf(backend, policy, 'a')
  await backend.adjustAll([{ ...charge, cost: Number.MAX_SAFE_INTEGER }], Number.POSITIVE_INFINITY)
  const { verdicts } = await backend.takeAll([charge])
  expect(verdicts[0].resetAfterMs).toBeGreaterThan(7e23)
})
