import { beforeEach, expect, test } from '@jest/globals'
import type { Policy } from '@sluice/limiter-core'
import { redisBackend } from '@sluice/redis'
import { eachSeed } from '@sluice/testkit'
import { chargeOf } from '../../redis/exact/charge.ts'
import { ownPrefix } from '../../redis/exact/own-prefix.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'

const ownRedis = redisForTests()

let now: number
let prefix: string
beforeEach(() => {
  now = 1.7e12
  prefix = ownPrefix()
})

async function backend(nativeCommands = false) {
  const client = ownRedis.server.client()
  await client.ping()
  return { client, redis: redisBackend(client, { prefix, serverTime: () => now, nativeCommands }) }
}

const windowMs = 60_000
const policies: Policy[] = [
  { name: 'fixed', algorithm: 'fixed-window', limit: 100, windowMs },
  { name: 'epochs', algorithm: 'sliding-window', limit: 100, windowMs },
  { name: 'slices', algorithm: 'sliding-window', limit: 100, windowMs, slices: 10 },
  { name: 'log', algorithm: 'sliding-log', limit: 100, windowMs },
  { name: 'bucket', algorithm: 'token-bucket', limit: 100, windowMs },
  { name: 'gcra', algorithm: 'gcra', limit: 100, windowMs },
]
const numbers = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300, -1e300, -1, 0.5, 2 ** 53]

test.each([
  ...policies.map((policy) => [policy.name, policy, false] as const),
  ['fixed, to be stored as an integer', policies[0], true] as const,
])('a call answers, whatever bytes are stored in the cells of %s', async (_, policy, nativeCommands) => {
  const { client, redis } = await backend(nativeCommands)
  await eachSeed(100, async (random) => {
    const charge = chargeOf(redis, policy, 'key', random.pick([1, 50, 100]))
    await redis.takeAll([{ ...charge, cost: 1 }])
    const [name] = await client.keys(`${prefix}*`)
    const cells = Array.from({ length: policy.name === 'log' ? 4 : charge.counter.compiled.cells }, () =>
      random.pick([...numbers, now, -now, 2 * now]),
    )
    await client.set(name, Buffer.from(new Float64Array(cells).buffer))
    expect((await redis.takeAll([charge])).verdicts.length).toBe(1)
    expect((await redis.adjustAll([charge], now)).verdicts.length).toBe(1)
    await redis.resetAll([charge])
  })
})

test('a debt that is not an exact sum of its slices ends', async () => {
  const { redis } = await backend()
  const policy: Policy = { name: 'slices', algorithm: 'sliding-window', limit: 10, windowMs, slices: 2 }
  const charge = chargeOf(redis, policy, 'key')
  const start = now
  for (const cost of [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 2])
    await redis.adjustAll([{ ...charge, cost }], start)
  now += windowMs / 2
  await redis.adjustAll([{ ...charge, cost: 3 }], now)
  const { verdicts } = await redis.takeAll([{ ...charge, cost: 10 }])
  expect(verdicts[0].retryAfterMs).toBe(windowMs + windowMs / 2)
})
