import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eachSeed, numberOfRuns } from '@sluice/testkit'
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

test('Lua and TypeScript compute identical numbers: 20,000 random steps', async () => {
  let taken = 0
  await eachSeed(8, async (random) => {
    taken += await liveAsTwins(client, random, 2_500)
  })
  expect(taken).toBeGreaterThanOrEqual(numberOfRuns(20_000))
})
