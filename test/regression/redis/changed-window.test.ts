import { describe, expect, test } from '@jest/globals'
import { type AlgorithmName, createLimiter, type PolicyInput } from '@sluice/limiter-core'
import { redisBackend } from '@sluice/redis'
import { ownPrefix } from '../../redis/exact/own-prefix.ts'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'

const redis = redisClientForTests()

const kinds: readonly (readonly [AlgorithmName, Partial<PolicyInput>])[] = [
  ['fixed-window', {}],
  ['sliding-window', {}],
  ['sliding-window', { slices: 4 }],
  ['sliding-log', {}],
  ['token-bucket', {}],
  ['gcra', {}],
]

/** A process of one release. All releases use the same name. */
function release(prefix: string, serverTime: () => number, policy: Omit<PolicyInput, 'name'>) {
  const backend = redisBackend(redis.client, { prefix, serverTime })
  const limiter = createLimiter({
    policies: [{ name: 'requests', ...policy } as PolicyInput],
    backend,
    deadlineMs: 5_000,
  })
  return async (): Promise<number> => {
    const { allowed, counted } = await limiter.take('key')
    expect(counted).toBe(true)
    return allowed ? 1 : 0
  }
}

describe.each(kinds)('with %s %j', (algorithm, more) => {
  test('100 in 20 s and 20 in 1 s under one name, side by side, each keep their guarantee', async () => {
    // the start of a window of 20 s
    let now = 1_700_000_000_000
    const prefix = ownPrefix()
    const old = release(prefix, () => now, { limit: 100, window: '20s', algorithm, ...more })
    const next = release(prefix, () => now, { limit: 20, window: '1s', algorithm, ...more })
    let ofOld = 0
    let ofNext = 0
    for (const until = now + 9_000; now < until; now += 20) {
      ofOld += await old()
      ofNext += await next()
    }
    // drained units are available again over time
    const drains = algorithm === 'token-bucket' || algorithm === 'gcra'
    expect(ofOld).toBeLessThanOrEqual(drains ? 145 : 100)
    expect(ofNext).toBeLessThanOrEqual(drains ? 200 : 180)
    expect(ofOld + ofNext).toBeLessThanOrEqual(280)
  })
})
