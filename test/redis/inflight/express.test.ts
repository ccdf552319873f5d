import { once } from 'node:events'
import { request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { inflightLimit, type Permit } from '@sluice/express'
import { seededRandom } from '@sluice/testkit'
import express from 'express'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { eventually, Fleet } from './fleet.ts'

const LIMIT = 10
const CAP = { name: 'inflight', limit: LIMIT }

let redis: RedisServer
let fleet: Fleet
const servers: Server[] = []
let busy = 0
let most = 0

beforeAll(async () => {
  redis = await startRedis()
  fleet = new Fleet(redis.port)
  for (const _ of [1, 2]) servers.push(await site())
})

afterAll(async () => {
  for (const server of servers) server.close()
  await fleet.close()
  await redis.stop()
})

test('two servers with one cap: no request above it is handled, and clients that disconnect leave no permit behind', async () => {
  const random = seededRandom(4)
  const ends: string[] = []
  const visitor = async (): Promise<void> => {
    for (let visit = 0; visit < 15; visit++) ends.push(await visited(random.pick(servers), random.whole(3) === 0))
  }
  await Promise.all(Array.from({ length: 40 }, visitor))
  expect(ends).toContain('200')
  expect(most).toBeLessThanOrEqual(LIMIT)
  const other = await fleet.member({ deadlineMs: 5_000, leaseMs: 20_000 })
  await eventually(() => other.count?.('', CAP), 0)
  const held = await Promise.all(Array.from({ length: LIMIT }, () => other.acquire('', { cap: CAP })))
  expect(await visited(servers[0], false)).toBe('503')
  for (const permit of held as Permit[]) await permit.release()
})

async function site(): Promise<Server> {
  // this test checks counts, and a busy machine must not make a process count locally
  const backend = await fleet.member({ deadlineMs: 5_000, leaseMs: 20_000 })
  const app = express()
  app.use(inflightLimit({ limit: LIMIT, backend }))
  app.get('/', (_req, res) => {
    most = Math.max(most, ++busy)
    res.once('close', () => busy--)
    setImmediate(() => setImmediate(() => res.end('done')))
  })
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** How a visit ended. An impatient client disconnects at a random moment. */
function visited(server: Server, impatient: boolean): Promise<string> {
  return new Promise((resolve) => {
    const { port } = server.address() as AddressInfo
    const asked = request({ port, host: '127.0.0.1', agent: false }, (res) => {
      res.resume().once('close', () => resolve(String(res.statusCode)))
    })
    asked.once('error', () => resolve('hung up'))
    asked.end()
    if (impatient) asked.once('socket', (socket) => socket.once('connect', () => setImmediate(() => asked.destroy())))
  })
}
