import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eachSeed } from '@sluice/testkit'
import { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../../services/redis-server.ts'
import { sendToTwins, twinInputs } from './twin-batches.ts'

let server: RedisServer
let client: Redis

beforeAll(async () => {
  server = await startRedis()
  client = new Redis(server.port)
})

afterAll(async () => {
  client.disconnect()
  await server.stop()
})

test.each(twinInputs)(
  'batches of $algorithm, slices $slices, leave in Redis what they leave in memory, to the last bit',
  async (input) => {
    expect.hasAssertions()
    await eachSeed(1, (random) => sendToTwins(client, input, random, { takes: 200_000, most: 60 }))
  },
  600_000,
)
