import { once } from 'node:events'
import { expect, test } from '@jest/globals'
import { type AlgorithmName, createLimiter, type ScriptRunner } from '@sluice/limiter-core'
import { createRedis, leasedBackend, scriptRunner } from '@sluice/redis'
import { until } from '@sluice/testkit'
import { chargedOf } from '../../redis/known/member.ts'
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

/** A runner that delays lease requests on demand. */
class SlowAsks implements ScriptRunner {
  holds = false
  readonly held: (() => void)[] = []
  readonly #runner = scriptRunner(client.current)

  async run(...call: Parameters<ScriptRunner['run']>): Promise<unknown> {
    if (this.holds && call[0].name.startsWith('leases')) await new Promise<void>((resolve) => this.held.push(resolve))
    return this.#runner.run(...call)
  }
}

test.each<AlgorithmName>(['fixed-window', 'sliding-window', 'token-bucket', 'gcra'])(
  'with %s, units spent before a reset are not charged after it, whatever is in flight',
  async (algorithm) => {
    const options = {
      scope: `overtaken-${algorithm}`,
      policy: { name: 'year', limit: 10_000, window: '365d', algorithm } as const,
    }
    const runner = new SlowAsks()
    const backend = leasedBackend(runner)
    const limiter = createLimiter({ policies: [options.policy], backend, scope: options.scope, deadlineMs: 5_000 })
    for (let taken = 0; taken < 50; taken++) await limiter.take('key')
    // a request that reports the spent units is in flight
    runner.holds = true
    const looked = limiter.peek('key')
    await until(() => runner.held.length > 0)
    runner.holds = false
    const reset = limiter.reset('key')
    // a reset that does not wait for others is complete by then
    for (let pings = 0; pings < 10; pings++) await client.current.ping()
    for (const go of runner.held.splice(0)) go()
    await Promise.all([looked, reset])
    await limiter.take('key', 3)
    limiter.close()
    await backend.close?.()
    expect(await chargedOf(client.current, options, 'key')).toBe(3)
  },
)
