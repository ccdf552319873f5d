import { expect, test } from '@jest/globals'
import { redisBackend } from '@sluice/redis'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'
import { bucket, chargeOf, hour, remaining } from './charge.ts'
import { ownPrefix } from './own-prefix.ts'

const redis = redisClientForTests()

test('a server that repeatedly loses its scripts fails no decision, and counts each decision once', async () => {
  const backend = redisBackend(redis.client, { prefix: ownPrefix() })
  const admin = redis.server.client()
  for (let round = 0; round < 20; round++) {
    const flushed = admin.script('FLUSH')
    await Promise.all(
      Array.from({ length: 2 }, () => backend.takeAll([chargeOf(backend, bucket, 'a'), chargeOf(backend, hour, 'a')])),
    )
    await flushed
  }
  expect(await remaining(backend, hour, 'a')).toBe(60)
})

test('many concurrent calls are each run once after they find the script missing', async () => {
  // each backend makes calls of its own
  const backends = Array.from({ length: 25 }, () => redisBackend(redis.client, { prefix: ownPrefix() }))
  await redis.client.script('FLUSH')
  const answers = await Promise.all(backends.map((backend) => backend.takeAll([chargeOf(backend, hour, 'a')])))
  expect(answers.map(({ verdicts }) => verdicts[0].remaining)).toEqual(backends.map(() => 99))
})
