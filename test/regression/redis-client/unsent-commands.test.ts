import { once } from 'node:events'
import { expect, test } from '@jest/globals'
import { type AlgorithmName, createLimiter, type ScriptRunner } from '@sluice/limiter-core'
import { createRedis, RedisFailure, redisBackend, scriptRunner } from '@sluice/redis'
import { chargedOf, Member } from '../../redis/known/member.ts'
import { forTests } from '../../services/for-tests.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'

const redis = redisForTests()
const client = forTests(
  async () => {
    const client = createRedis(redis.server.url)
    await once(client, 'ready')
    return client
  },
  (client) => client.disconnect(),
)

/** A runner that loses requests for the server's time while the test asks for it. */
class LosingRunner implements ScriptRunner {
  losing = true
  readonly #runner = scriptRunner(client.current)

  run(...call: Parameters<ScriptRunner['run']>): Promise<unknown> {
    if (!this.losing || call[0].name !== 'server-time') return this.#runner.run(...call)
    return Promise.reject(new RedisFailure('CONNECTION', 'lost by a test', { mayHaveCounted: true }))
  }
}

test.each<AlgorithmName>(['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'gcra'])(
  "with %s, a take that timed out waiting for the server's time is charged, whatever others took meanwhile",
  async (algorithm) => {
    const policy = { name: 'year', limit: 100, window: '365d', algorithm } as const
    const options = { scope: `never-sent-${algorithm}`, policy }
    const runner = new LosingRunner()
    const backend = redisBackend(runner)
    const limiter = createLimiter({ policies: [policy], backend, scope: options.scope, deadlineMs: 5_000 })
    const other = new Member(client.current, redisBackend(client.current), options)
    expect(await limiter.take('key', 4)).toMatchObject({ allowed: true, counted: false })
    await other.take('key', 1, 20)
    runner.losing = false
    expect(await limiter.take('key', 3)).toMatchObject({ allowed: true, counted: true })
    expect(await chargedOf(client.current, options, 'key')).toBe(27)
    limiter.close()
    backend.close?.()
    other.limiter.close()
    await other.backend.close?.()
  },
)
