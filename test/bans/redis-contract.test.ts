import { afterAll, beforeAll, describe, test } from '@jest/globals'
import { redisBackend } from '@sluice/redis'
import { banContract, FakeClock } from '@sluice/testkit'
import { type Connected, singleServerClients } from '../redis/connected-clients.ts'
import { ownPrefix } from '../redis/exact/own-prefix.ts'
import { type RedisServer, startRedis } from '../services/redis/redis-server.ts'

let server: RedisServer
let connected: Connected[]

beforeAll(async () => {
  server = await startRedis()
  const [[, connect]] = singleServerClients
  connected = await Promise.all([connect(server.port), connect(server.port), connect(server.port)])
})

afterAll(async () => {
  for (const one of connected) await one.close()
  await server.stop()
})

describe('redisBackend of several processes', () =>
  banContract({ describe, test }, (processes) => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const prefix = ownPrefix()
    const backends = connected
      .slice(0, processes)
      .map(({ client }) => redisBackend(client, { prefix, serverTime: () => clock.now(), clock }))
    return {
      clock,
      backends,
      close: () => {
        for (const backend of backends) void backend.close?.()
      },
    }
  }))
