import { expect, test } from '@jest/globals'
import type { AlgorithmName } from '@sluice/limiter-core'
import { createRedis, leasedBackend } from '@sluice/redis'
import { chargedOf, Member } from '../../redis/known/member.ts'
import { eventually } from '../../services/eventually.ts'
import { forTests } from '../../services/for-tests.ts'
import { startProxy } from '../../services/proxies/tcp-proxy.ts'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'

const redis = redisClientForTests()
const path = forTests(
  () => startProxy(redis.server.port),
  (proxy) => proxy.stop(),
)

async function now(): Promise<number> {
  const [seconds, micros] = (await redis.client.time()) as unknown as [number, number]
  return Number(seconds) * 1_000 + Number(micros) / 1_000
}

/** Whether a request was granted at least the given number of units, and its lease has ended. */
async function isOver(scope: string, granted: number): Promise<boolean> {
  const [name] = await redis.client.keys(`*{key}:${scope}/*:leases`)
  const leases = name === undefined ? null : await redis.client.getBuffer(name)
  const at = await now()
  for (let lease = 0; leases && lease < leases.length; lease += 56) {
    if (leases.readDoubleLE(lease + 8) >= granted && leases.readDoubleLE(lease + 16) < at) return true
  }
  return false
}

// units of a lost request are charged when their lease ends, and returned when the owner reports again: meanwhile they
// look like counted units
test.each<AlgorithmName>(['fixed-window', 'sliding-window', 'token-bucket', 'gcra'])(
  'with %s, a take whose request has no answer is charged once, whatever happened to the request',
  async (algorithm) => {
    const options = {
      scope: `asks-${algorithm}`,
      policy: { name: 'day', limit: 100_000, window: '365d', algorithm } as const,
    }
    const client = createRedis(path.current.url, { retryStrategy: () => 20 })
    const member = await new Member(client, leasedBackend(client, { leaseMs: 100 }), options).ready()
    // usually more than is left of the previous lease
    for (const units of [700, 2_000, 6_000]) {
      await member.takeUntilCounted('key')
      await member.limiter.peek('key')
      path.current.degrade({ delayMs: 800 })
      const taken = member.take('key', 1, units)
      await eventually(() => isOver(options.scope, units), { what: 'the end of a lease of which nobody knows' })
      path.current.cut()
      path.current.heal()
      await taken
    }
    await member.takeUntilCounted('key')
    expect(member.uncounted).toBeGreaterThanOrEqual(700)
    await member.close()
    expect(await chargedOf(redis.client, options, 'key')).toBe(member.admitted)
  },
)
