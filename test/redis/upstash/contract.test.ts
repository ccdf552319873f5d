import { afterAll, beforeAll, describe, test } from '@jest/globals'
import { createInflightLimiter, type InflightLimiter } from '@sluice/limiter-core'
import { redisBackend, redisInflight } from '@sluice/redis'
import { backendContract, inflightContract, type MadeInflightOptions } from '@sluice/testkit'
import { Redis } from '@upstash/redis'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { RestServer, TOKEN } from '../../services/redis/rest-server.ts'
import { ownPrefix } from '../exact/own-prefix.ts'
import { asInWorkers } from './as-in-workers.ts'

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

describe('redisInflight over the REST protocol, as on Cloudflare Workers', () => {
  const longestHoldMs = 20 * 24 * 3_600_000
  const create = ({ limit, clock, observers, maxHoldMs }: MadeInflightOptions): InflightLimiter => {
    const client = new Redis({ url: rest.url, token: TOKEN })
    const options = { prefix: ownPrefix(), serverTime: () => clock.now(), clock, maxHoldMs: longestHoldMs }
    const backend = asInWorkers(() => redisInflight(client, options))
    return createInflightLimiter({ limit, backend, clock, observers, maxHoldMs })
  }
  inflightContract({ describe, test }, create, { longestHoldMs })
})
