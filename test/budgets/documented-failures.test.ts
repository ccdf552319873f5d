import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/fetch'
import { type Backend, createLimiter, memoryBackend } from '@sluice/limiter-core'
import { rateLimit as nodeRateLimit } from '@sluice/node-http'
import { createRedis, redisBackend } from '@sluice/redis'
import { eventually } from '../services/eventually.ts'
import { type RedisServer, startRedis } from '../services/redis/redis-server.ts'

// failures of other gateways, each with its documented case
let server: RedisServer
let redis: ReturnType<typeof createRedis>
const backends: Record<string, () => Backend> = {
  memory: () => memoryBackend(),
  redis: () => redisBackend(redis, { prefix: `budget-${Math.random()}:` }),
}

beforeAll(async () => {
  server = await startRedis()
  redis = createRedis({ port: server.port })
})
afterAll(async () => {
  await redis.quit()
  await server.stop()
})

const budget = { name: 'budget', limit: 450, window: '1h', unit: 'micro-usd', maxHoldMs: '1m' } as const
// a busy machine may stand still for longer than the default deadline
const deadlineMs = 20_000

describe.each(Object.keys(backends))('budgets on %s', (name) => {
  test('check and spend are one step: three of five requests for a third of the budget pass', async () => {
    const limiter = createLimiter({ policies: [budget], backend: backends[name](), deadlineMs })
    const holds = await Promise.all([1, 2, 3, 4, 5].map(async () => limiter.hold('a', { reserve: 150 })))
    expect(holds.filter(({ allowed }) => allowed)).toHaveLength(3)
    for (const hold of holds) await hold.settle(150)
    expect((await limiter.peek('a')).binding.remaining).toBe(0)
    await limiter.close()
  })

  test('a budget is not used up by reservations that cost nothing', async () => {
    const limiter = createLimiter({ policies: [budget], backend: backends[name](), deadlineMs })
    for (let round = 0; round < 20; round++) {
      const holds = await Promise.all([1, 2, 3].map(async () => limiter.hold('a', { reserve: 150 })))
      expect(holds.map(({ allowed }) => allowed)).toEqual([true, true, true])
      for (const [index, hold] of holds.entries()) await (index === 0 ? hold.release() : hold.settle(0))
    }
    expect((await limiter.peek('a')).binding.remaining).toBe(450)
    await limiter.close()
  })

  test('a cost that is only known after the response does not let everybody in', async () => {
    const limit = rateLimit({
      ...budget,
      deadlineMs,
      backend: backends[name](),
      key: () => 'a',
      cost: { reserve: 100, settle: () => 110, settleOn: 'always' },
    })
    const handle = limit.wrap(async () => new Response('ok'))
    const responses = await Promise.all(Array.from({ length: 100 }, () => handle(new Request('http://localhost/'))))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(4)
    for (const response of responses) await response.text()
    limit.close()
  })

  test('clients that cancel leave no reservation behind', async () => {
    const backend = backends[name]()
    const limiter = createLimiter({ policies: [budget], backend, shared: true, deadlineMs })
    const limit = nodeRateLimit({
      ...budget,
      deadlineMs,
      backend,
      shared: true,
      key: () => 'a',
      cost: { reserve: 90, settle: () => 0, settleOn: 'always' },
    })
    const http = createServer((req, res) => limit(req, res, () => res.write('first part of a stream')))
    await new Promise<void>((resolve) => http.listen(0, resolve))
    const { port } = http.address() as AddressInfo
    for (let round = 0; round < 10; round++) {
      const streams = await Promise.all(
        Array.from({ length: 5 }, async () => {
          const left = new AbortController()
          const response = await fetch(`http://localhost:${port}/`, { signal: left.signal })
          return { left, status: response.status }
        }),
      )
      expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
      for (const { left } of streams) left.abort()
      await eventually(async () => (await limiter.peek('a')).binding.remaining === 450, { what: 'the budget' })
    }
    http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
    limit.close()
    await limiter.close()
  })

  test('a stream ends when its budget does, at most one step beyond it', async () => {
    const limiter = createLimiter({ policies: [budget], backend: backends[name](), deadlineMs })
    const hold = await limiter.hold('a', { reserve: 50 })
    let sent = 50
    while (await hold.extend(60)) sent += 60
    expect(sent).toBe(410)
    await hold.settle(sent)
    expect((await limiter.peek('a')).binding.remaining).toBe(40)
    await limiter.close()
  })
})
