import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { redisBackend } from '@sluice/redis'
import type { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { bucket, chargeOf, hour, remaining } from './charge.ts'
import { ownPrefix } from './own-prefix.ts'

let server: RedisServer
let client: Redis

beforeAll(async () => {
  server = await startRedis()
  client = server.client()
  await client.ping()
})

afterAll(() => server.stop())

test('a server that repeatedly loses its scripts fails no decision, and counts each decision once', async () => {
  const backend = redisBackend(client, { prefix: ownPrefix() })
  const admin = server.client()
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
  const backends = Array.from({ length: 25 }, () => redisBackend(client, { prefix: ownPrefix() }))
  await client.script('FLUSH')
  const answers = await Promise.all(backends.map((backend) => backend.takeAll([chargeOf(backend, hour, 'a')])))
  expect(answers.map(({ verdicts }) => verdicts[0].remaining)).toEqual(backends.map(() => 99))
})
