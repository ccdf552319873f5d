import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eachSeed } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../../../services/redis/redis-server.ts'
import { liveAsTwins } from './twin-history.ts'

let server: RedisServer
let client: Redis

beforeAll(async () => {
  server = await startRedis()
  client = server.client()
  await client.ping()
})

afterAll(() => server.stop())

test('Lua and TypeScript compute identical numbers: a million random steps', async () => {
  let taken = 0
  await eachSeed(50, async (random) => {
    taken += await liveAsTwins(client, random, 20_000)
  })
  expect(taken).toBeGreaterThanOrEqual(1_000_000)
}, 900_000)
