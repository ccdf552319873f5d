import { afterAll, beforeAll, describe, test } from '@jest/globals'
import { redisBackend } from '@sluice/redis'
import { backendContract } from '@sluice/testkit'
import { Redis } from '@upstash/redis'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { RestServer, TOKEN } from '../../services/redis/rest-server.ts'
import { ownPrefix } from '../exact/own-prefix.ts'

let server: RedisServer
let rest: RestServer

beforeAll(async () => {
  server = await startRedis()
  rest = await RestServer.start(server.port)
})

afterAll(async () => {
  await rest.stop()
  await server.stop()
})

describe('redisBackend over the REST protocol with @upstash/redis', () => {
  backendContract(
    { describe, test },
    (clock) =>
      redisBackend(new Redis({ url: rest.url, token: TOKEN }), {
        prefix: ownPrefix(),
        serverTime: () => clock.now(),
        clock,
      }),
    { keepsHolds: true, booksTurns: true, histories: 2 },
  )
})
