import { describe, expect, test } from '@jest/globals'
import type { AlgorithmName, Decision } from '@sluice/limiter-core'
import { createRedis, leasedBackend, redisBackend } from '@sluice/redis'
import { chargedOf, Member } from '../../redis/known/member.ts'
import { eventually } from '../../services/eventually.ts'
import { forTests } from '../../services/for-tests.ts'
import { startProxy } from '../../services/proxies/tcp-proxy.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'

const redis = redisForTests()
const proxy = forTests(
  () => startProxy(redis.server.port),
  (one) => one.stop(),
)
let scopes = 0

const algorithms: readonly AlgorithmName[] = ['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'gcra']

/** A process whose connection to Redis breaks, and the units charged there. */
async function bench(algorithm: AlgorithmName, leased = false) {
  const policy = { name: 'tokens', limit: leased ? 1_000 : 120, window: '1h', algorithm } as const
  const options = { scope: `jobs-${scopes++}`, policy }
  const client = createRedis(proxy.current.url, { retryStrategy: () => 20 })
  const member = await new Member(
    client,
    leased ? leasedBackend(client, { leaseMs: 100 }) : redisBackend(client),
    options,
  ).ready()
  const admin = redis.server.client()
  const charged = (): Promise<number> => chargedOf(admin, options, 'key')
  const breaks = async (): Promise<void> => {
    const closed = new Promise((resolve) => client.once('close', resolve))
    proxy.current.refuse()
    proxy.current.cut()
    await closed
  }
  return { member, charged, breaks, heals: () => proxy.current.accept() }
}

describe.each(algorithms)('with %s, ten jobs that reserve 12 of 120', (algorithm) => {
  test.each([0, 12])('and use 2 are charged 2 each, with %d failures since', async (failures) => {
    const { member, charged, breaks, heals } = await bench(algorithm)
    const reserved: Decision[] = []
    for (let job = 0; job < 10; job++) reserved.push(await member.limiter.take('key', 12))
    expect(reserved.every(({ counted, allowed }) => counted && allowed)).toBe(true)
    await breaks()
    for (let failed = 0; failed < failures; failed++) await member.limiter.take('of the breaker')
    for (const taken of reserved) {
      expect(await member.limiter.charge('key', -10, taken)).toMatchObject({ counted: false })
    }
    await heals()
    await member.takeUntilCounted('another key')
    // partially refilled units count as whole in a bucket
    await eventually(async () => (await charged()) <= 21, { what: 'a charge of what was used' })
    expect(await charged()).toBeGreaterThanOrEqual(20)
    await member.takeUntilCounted('another key')
    expect(await charged()).toBeGreaterThanOrEqual(20)
    await member.close()
  })

  test('while Redis is down, and settle when it is back, are charged what they used', async () => {
    const { member, charged, breaks, heals } = await bench(algorithm)
    await member.take('key', 1, 0)
    await breaks()
    const reserved: Decision[] = []
    for (let job = 0; job < 10; job++) reserved.push(await member.limiter.take('key', 12))
    expect(reserved.every(({ counted, allowed }) => !counted && allowed)).toBe(true)
    for (const taken of reserved.slice(0, 5)) await member.limiter.charge('key', -10, taken)
    await heals()
    await member.takeUntilCounted('another key')
    await member.limiter.take('key', 0)
    expect(await charged()).toBeGreaterThanOrEqual(69)
    for (const taken of reserved.slice(5)) await member.limiter.charge('key', -10, taken)
    await member.takeUntilCounted('another key')
    // a log finds refunded units by their time, and these units have the time of the report
    if (algorithm !== 'sliding-log') {
      await eventually(async () => (await charged()) <= 21, { what: 'a charge of what was used' })
    }
    expect(await charged()).toBeGreaterThanOrEqual(19)
    await member.close()
  })
})

// a log is not leased
test.each(algorithms.filter((one) => one !== 'sliding-log'))(
  'with leases and %s that were reported to Redis, later refunds are applied',
  async (algorithm) => {
    const { member, charged, breaks, heals } = await bench(algorithm, true)
    // a window starts with its first charge
    await member.take('key', 1)
    await eventually(async () => (await charged()) >= 1, { what: 'a charge' })
    const reserved: Decision[] = []
    for (let job = 0; job < 10; job++) reserved.push(await member.limiter.take('key', 12))
    await eventually(async () => (await charged()) >= 120, { what: 'a charge of what was reserved' })
    await breaks()
    for (const taken of reserved) await member.limiter.charge('key', -10, taken)
    await heals()
    await member.takeUntilCounted('another key')
    await eventually(
      async () => {
        await member.take('another key', 1)
        return (await charged()) <= 22
      },
      { what: 'a charge of what was used' },
    )
    await member.takeUntilCounted('another key')
    expect(await charged()).toBeGreaterThanOrEqual(20)
    await member.close()
  },
)
