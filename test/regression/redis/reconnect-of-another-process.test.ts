import { describe, expect, test } from '@jest/globals'
import type { AlgorithmName, Decision, PolicyInput } from '@sluice/limiter-core'
import { createRedis, leasedBackend, redisBackend } from '@sluice/redis'
import { chargedOf, Member } from '../../redis/known/member.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'

const kinds: readonly (readonly [string, Partial<PolicyInput>])[] = [
  ['fixed-window', {}],
  ['sliding-window', {}],
  ['sliding-window', { slices: 6 }],
  ['sliding-log', {}],
  ['token-bucket', {}],
  ['token-bucket', { burst: 60 }],
  ['gcra', {}],
]

const redis = redisForTests()
let scopes = 0

/** Two processes of a fleet, and the charged units of their key. */
async function pair(algorithm: string, more: Partial<PolicyInput>, leased: boolean) {
  const policy = { name: 'hour', limit: 120, window: '1h', algorithm: algorithm as AlgorithmName, ...more } as const
  const options = { scope: `pair-${scopes++}`, policy }
  const members = [1, 2].map(() => {
    const client = createRedis(redis.server.url, { retryStrategy: () => 20 })
    return new Member(client, leased ? leasedBackend(client) : redisBackend(client), options).ready()
  })
  const [one, other] = await Promise.all(members)
  const admin = redis.server.client()
  const charged = (): Promise<number> => chargedOf(admin, options, 'key')
  const close = async (): Promise<void> => {
    await Promise.all([one.close(), other.close()])
  }
  return { one, other, charged, close }
}

/** A fraction of a unit has been refilled in a bucket by now, and another fraction counts as a whole unit. */
function expectNear(got: number, expected: number): void {
  expect(got).toBeGreaterThanOrEqual(expected - 1)
  expect(got).toBeLessThanOrEqual(expected + 1)
}

describe.each(kinds)('with %s %j', (algorithm, more) => {
  test.each([
    ['counts exactly', false],
    ['leases', true],
  ])('a reset stays effective, whichever process reconnects, if a fleet %s', async (_what, leased) => {
    const { one, other, charged, close } = await pair(algorithm, more, leased)
    await one.take('key', 20)
    await other.take('key', 10)
    await other.limiter.reset('key')
    one.admitted = 0
    for (let cut = 0; cut < 3; cut++) {
      await one.reconnect()
      await one.takeUntilCounted('key')
    }
    const { admitted } = one
    await close()
    const left = await charged()
    // units spent from a lease and not reported yet are reported after the reset
    expect(left).toBeLessThanOrEqual(admitted + 1 + (leased ? 20 : 0))
    expect(left).toBeGreaterThanOrEqual(admitted - 1)
  })

  test('refunded units stay refunded, whichever process reconnects', async () => {
    const { one, other, charged, close } = await pair(algorithm, more, false)
    const reserved: Decision[] = []
    for (let job = 0; job < 5; job++) reserved.push(await other.limiter.take('key', 8))
    await one.take('key', 3)
    for (const taken of reserved) await other.limiter.charge('key', -7, taken)
    for (let cut = 0; cut < 5; cut++) {
      await one.reconnect()
      await one.takeUntilCounted('key')
    }
    const { admitted } = one
    await close()
    expectNear(await charged(), 5 + admitted)
  })
})

test('ten reconnects of a fleet that reserves and settles leave exactly the used units', async () => {
  const { one, other, charged, close } = await pair('fixed-window', { limit: 100_000 }, false)
  let used = 0
  for (let cut = 0; cut < 10; cut++) {
    const reserved: Decision[] = []
    for (let job = 0; job < 10; job++) reserved.push(await other.limiter.take('key', 100))
    await one.takeUntilCounted('key')
    for (const taken of reserved) await other.limiter.charge('key', -90, taken)
    used += 100
    await one.reconnect()
  }
  await one.takeUntilCounted('key')
  used += one.admitted
  const left = await charged()
  process.stdout.write(`reserved and settled through ten reconnects: ${left} charged for ${used} used\n`)
  await close()
  expect(left).toBe(used)
})
