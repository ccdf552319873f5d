import assert from 'node:assert/strict'
import { describe, test } from '@jest/globals'
import { createLimiter, type Decision, type Limiter } from '@sluice/limiter-core'
import { type NodeRedisClient, redisBackend } from '@sluice/redis'
import { createClient } from 'redis'
import { createClient as createClient5 } from 'redis5'
import { eventually } from '../services/eventually.ts'
import { calledAfterEach } from '../services/for-tests.ts'
import { type RedisServer, startRedis } from '../services/redis/redis-server.ts'

interface Client extends NodeRedisClient {
  connect(): Promise<unknown>
  destroy(): void
}

const makers: readonly (readonly [string, (options: { url: string }) => Client])[] = [
  ['6', (options) => createClient(options)],
  ['5', (options) => createClient5(options)],
]

describe.each(makers)('a client of node-redis %s', (_, make) => {
  const open = calledAfterEach()

  function limiterOver(client: Client, deadlineMs: number): Limiter {
    open.push(() => client.isOpen && client.destroy())
    const policy = { name: 'p', algorithm: 'fixed-window', limit: 1_000, window: '1h' } as const
    const limiter = createLimiter({ ...policy, backend: redisBackend(client), deadlineMs, onBackendError: 'allow' })
    open.push(() => limiter.close())
    return limiter
  }

  async function served(): Promise<RedisServer> {
    const server = await startRedis()
    open.push(() => server.stop())
    return server
  }

  const clientOf = (port: number) => make({ url: `redis://127.0.0.1:${port}` })

  test('that is still connecting counts the first decision', async () => {
    const client = clientOf((await served()).port)
    const limiter = limiterOver(client, 10_000)
    const connecting = client.connect()
    assert.equal((await limiter.take('a')).counted, true)
    await connecting
  })

  test('that was never connected is answered by the failure rule at once', async () => {
    const limiter = limiterOver(clientOf((await served()).port), 10_000)
    assert.equal((await limiter.take('a')).counted, false)
  })

  test('survives the loss of its server without an error listener, queues nothing, and counts again', async () => {
    const server = await served()
    const client = clientOf(server.port)
    await client.connect()
    const limiter = limiterOver(client, 10_000)
    assert.equal((await limiter.take('a')).counted, true)
    await server.kill()
    const lost: Decision[] = []
    // with a deadline of 10 s, a queued call would be visible here
    const started = performance.now()
    while (lost.filter(({ counted }) => !counted).length < 20) lost.push(await limiter.take('a'))
    assert.ok(performance.now() - started < 5_000)
    await server.restart()
    await eventually(async () => (await limiter.take('a')).counted, { what: 'a counted decision' })
  })
})
