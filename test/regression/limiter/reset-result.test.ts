import { describe, expect, test } from '@jest/globals'
import { createLimiter, memoryBackend } from '@sluice/limiter-core'
import { redisBackend } from '@sluice/redis'
import { FakeClock } from '@sluice/testkit'
import { startRedis } from '../../services/redis/redis-server.ts'

const ALGORITHMS = ['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'gcra'] as const

describe('reset returns whether the key had a count', () => {
  test.each(ALGORITHMS)('in memory, %s', (algorithm) => {
    const clock = new FakeClock()
    const limiter = createLimiter({ limit: 10, window: '10s', algorithm, backend: memoryBackend({ clock }), clock })
    expect(limiter.reset('ann')).toBe(false)
    limiter.take('ann')
    expect(limiter.reset('anne')).toBe(false)
    expect(limiter.reset('ann')).toBe(true)
    expect(limiter.reset('ann')).toBe(false)
    limiter.take('ann')
    clock.advance(60_000)
    expect(limiter.reset('ann')).toBe(false)
    limiter.take('ann', 0)
    expect(limiter.reset('ann')).toBe(false)
  })

  test('of one of several policies, or a ban', async () => {
    const clock = new FakeClock()
    const policies = [
      { name: 'a', limit: 2, window: '1s' },
      { name: 'b', limit: 2, window: '1s', ban: { after: 3, within: '1m', for: '10m', max: '1h' } },
    ] as const
    const limiter = createLimiter({ policies, backend: memoryBackend({ clock }), clock })
    limiter.take({ a: 'x', b: 'y' })
    expect(limiter.reset({ a: 'x', b: 'z' })).toBe(true)
    expect(limiter.reset({ a: 'z', b: 'y' })).toBe(true)
    expect(limiter.reset({ a: 'x', b: 'y' })).toBe(false)
    await limiter.ban('z', '10m')
    clock.advance(5_000)
    expect(await limiter.reset('z')).toBe(true)
    expect(await limiter.reset('z')).toBe(false)
    expect(limiter.take('z').allowed).toBe(true)
  })

  test('not on a server, where it would take another call', async () => {
    const server = await startRedis()
    const client = server.client()
    const backend = redisBackend(client)
    const limiter = createLimiter({ name: 'api', limit: 10, window: '1h', backend })
    await limiter.take('ann', 2)
    expect(await limiter.reset('ann')).toBeUndefined()
    expect((await limiter.peek('ann')).binding?.remaining).toBe(10)
    await limiter.close()
    await backend.close?.()
    await server.stop()
  })
})
