import { describe, test } from '@jest/globals'
import { createInflightLimiter, type InflightLimiter } from '@sluice/limiter-core'
import { redisBackend, redisInflight } from '@sluice/redis'
import { backendContract, inflightContract, type MadeInflightOptions } from '@sluice/testkit'
import { Redis } from '@upstash/redis'
import { forTests } from '../../services/for-tests.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'
import { RestServer, TOKEN } from '../../services/redis/rest-server.ts'
import { ownPrefix } from '../exact/own-prefix.ts'
import { asInWorkers } from './as-in-workers.ts'

const redis = redisForTests()
const rest = forTests(
  () => RestServer.start(redis.server.port),
  (one) => one.stop(),
)

describe('redisBackend over the REST protocol with @upstash/redis', () => {
  backendContract(
    { describe, test },
    (clock) =>
      redisBackend(new Redis({ url: rest.current.url, token: TOKEN }), {
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
    const client = new Redis({ url: rest.current.url, token: TOKEN })
    const options = { prefix: ownPrefix(), serverTime: () => clock.now(), clock, maxHoldMs: longestHoldMs }
    const backend = asInWorkers(() => redisInflight(client, options))
    return createInflightLimiter({ limit, backend, clock, observers, maxHoldMs })
  }
  inflightContract({ describe, test }, create, { longestHoldMs })
})
