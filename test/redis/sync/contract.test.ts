import { afterAll, beforeAll, describe, test } from '@jest/globals'
import { syncedBackend } from '@sluice/redis'
import { backendContract } from '@sluice/testkit'
import { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { ownPrefix } from '../exact/own-prefix.ts'

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

describe('a single syncedBackend on its Redis', () => {
  backendContract(
    { describe, test },
    (clock) => syncedBackend(client, { burst: 1, nodes: 1, prefix: ownPrefix(), clock, serverTime: () => clock.now() }),
    { algorithms: ['fixed-window', 'sliding-window', 'token-bucket', 'gcra'] },
  )
})
