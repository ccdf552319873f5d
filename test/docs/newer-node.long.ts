import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type PostgresServer, startPostgres } from '../services/postgres/postgres-server.ts'
import { type RedisServer, startRedis } from '../services/redis/redis-server.ts'
import { sqliteNodeBinary } from '../services/sqlite-node-binary.ts'
import { complaintsOfPages, runningPages } from './run-pages.ts'

let redis: RedisServer
let postgres: PostgresServer
let node: string

beforeAll(async () => {
  node = sqliteNodeBinary()
  ;[redis, postgres] = await Promise.all([startRedis(), startPostgres()])
}, 310_000)

afterAll(() => Promise.all([redis.stop(), postgres.stop()]))

test('the pages that need a newer Node run on it', async () => {
  const [newer] = runningPages()
  expect(await complaintsOfPages(newer, { redis, postgres }, node)).toBe('')
}, 120_000)
