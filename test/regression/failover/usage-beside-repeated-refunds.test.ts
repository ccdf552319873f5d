import { expect, test } from '@jest/globals'
import { type AlgorithmName, createLimiter } from '@sluice/limiter-core'
import type { ScriptRunner } from '@sluice/limiter-core/backend'
import { redisBackend } from '@sluice/redis'
import { FakeClock } from '@sluice/testkit'
import { chargedOf } from '../../redis/known/member.ts'
import { eventually } from '../../services/eventually.ts'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'

const redis = redisClientForTests()

const algorithms: readonly AlgorithmName[] = ['fixed-window', 'sliding-window', 'token-bucket', 'gcra']

test.each(algorithms)(
  'with %s, units that were admitted during an outage are counted, although the backend has applied a refund whose reply was lost',
  async (algorithm) => {
    const clock = new FakeClock({ nowMs: 1_000 })
    let way: 'whole' | 'lost' | 'broken' = 'whole'
    const runner: ScriptRunner = {
      async run(script, keys, args) {
        if (way === 'broken') throw new Error('Connection is closed.')
        const reply = await redis.client.eval(script.text, keys.length, ...keys, ...args)
        if (way === 'lost') throw new Error('Connection is closed.')
        return reply
      },
    }
    const backend = redisBackend(runner, { clock })
    const policy = { name: 'tokens', limit: 100, window: '1h', algorithm } as const
    const scope = `usage-${algorithm}`
    const limiter = createLimiter({ policies: [policy], scope, backend, clock, deadlineMs: 20_000 })
    const taken = await limiter.take('key', 40)
    expect(taken.counted).toBe(true)
    way = 'lost'
    await limiter.charge('key', -10, taken)
    expect(await chargedOf(redis.client, { scope, policy }, 'key')).toBe(30)
    way = 'broken'
    for (let times = 0; times < 12; times++) await limiter.take('of the breaker')
    expect(await limiter.take('key', 20)).toMatchObject({ allowed: true, counted: false })
    way = 'whole'
    await eventually(
      async () => {
        clock.advance(1_000)
        return (await limiter.take('another key')).counted
      },
      { what: 'the end of the outage' },
    )
    for (let times = 0; times < 5; times++) await limiter.take('another key')
    await limiter.take('key', 1)
    expect(await chargedOf(redis.client, { scope, policy }, 'key')).toBe(51)
    limiter.close()
  },
)
