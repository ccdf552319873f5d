import { describe, expect, test } from '@jest/globals'
import { RateGate } from '@sluice/http'
import { createLimiter, memoryBackend } from '@sluice/limiter-core'
import { leasedBackend, redisBackend } from '@sluice/redis'
import { type SketchBackendOptions, sketchBackend } from '@sluice/sketches/limits'
import { FakeClock } from '@sluice/testkit'
import { ownPrefix } from '../redis/exact/own-prefix.ts'
import { redisClientForTests } from '../services/redis/redis-for-tests.ts'
import { HOUR, MINUTE, type Plans } from './any-plans.ts'
import { PlanSite } from './plan-site.ts'

const drainsForHours: Plans = {
  free: { algorithm: 'token-bucket', limit: 10, windowMs: HOUR },
  pro: { algorithm: 'fixed-window', limit: 100, windowMs: MINUTE },
}

describe('in memory', () => {
  test('units used under one plan are kept as long as any plan counts them, in a full table', async () => {
    const clock = new FakeClock({ nowMs: 17 })
    const backend = memoryBackend({ maxBytes: 64 * 1_024, clock })
    const site = new PlanSite(drainsForHours, clock, backend)
    await site.take('pro', 100)
    clock.advance(2 * MINUTE)
    // keys with the same cells, which compete for space
    const policies = [{ name: 'flood', limit: 1_000, window: '1h', algorithm: 'sliding-window', slices: 3 }] as const
    const flood = createLimiter({ policies, backend, clock, scope: 'flood' })
    for (let key = 0; key < 5_000; key++) flood.take(`stranger ${key}`)
    expect((await site.take('free')).allowed).toBe(false)
    // ten units drain in an hour
    clock.advance(9.2 * HOUR)
    expect((await site.take('free')).allowed).toBe(true)
    flood.close()
    site.close()
  })
})

describe('in Redis', () => {
  const redis = redisClientForTests()

  async function stored(plans: Plans): Promise<{ readonly name: string; readonly ttlMs: number }> {
    const prefix = ownPrefix()
    const site = new PlanSite(plans, undefined, redisBackend(redis.client, { prefix }))
    expect((await site.take('pro', plans.pro.limit)).source).toBe('redis')
    expect((await site.take('free')).allowed).toBe(false)
    site.close()
    const names = await redis.client.keys(`${prefix}:*`)
    expect(names).toHaveLength(1)
    return { name: names[0].slice(prefix.length), ttlMs: await redis.client.pttl(names[0]) }
  }

  test('all plans share one string, whose name describes its cells, and which expires after the longest plan', async () => {
    const { name, ttlMs } = await stored(drainsForHours)
    expect(name).toBe(':{key}:default/quota/fixed-window@1+token-bucket@1/60000')
    expect(ttlMs).toBeGreaterThan(9 * HOUR)
  })

  test.each<[string, Plans]>([
    [
      'of one form',
      {
        free: { algorithm: 'fixed-window', limit: 79, windowMs: HOUR },
        pro: { algorithm: 'fixed-window', limit: 1_000, windowMs: HOUR },
      },
    ],
    [
      'of several forms',
      {
        free: { algorithm: 'token-bucket', limit: 79, windowMs: HOUR },
        pro: { algorithm: 'fixed-window', limit: 1_000, windowMs: MINUTE },
      },
    ],
  ])('a process takes units of a plan directly if another plan is too small to be leased, %s', async (_what, plans) => {
    const backend = leasedBackend(redis.client, { prefix: ownPrefix() })
    const site = new PlanSite(plans, undefined, backend)
    for (let takes = 0; takes < 90; takes++) expect((await site.take('pro')).allowed).toBe(true)
    expect((await site.take('free')).allowed).toBe(false)
    site.close()
    await backend.close?.()
  })

  test('plans with the same cells use the name and the cells of a single policy', async () => {
    const { name, ttlMs } = await stored({
      free: { algorithm: 'sliding-window', limit: 10, windowMs: HOUR },
      pro: { algorithm: 'sliding-window', limit: 100, windowMs: HOUR },
    })
    expect(name).toBe(':{key}:default/quota/sliding-window@2/3600000')
    expect(ttlMs).toBeLessThanOrEqual(2 * HOUR)
  })

  test('the name does not depend on the order of the plans, and includes slices', async () => {
    const free = { algorithm: 'sliding-window', limit: 10, windowMs: HOUR, slices: 6 } as const
    const pro = { algorithm: 'sliding-log', limit: 100, windowMs: HOUR } as const
    const expected = ':{key}:default/quota/sliding-log@1+sliding-window@2/6/3600000+3600000'
    expect((await stored({ free, pro })).name).toBe(expected)
    expect((await stored({ pro, free })).name).toBe(expected)
  })
})

describe('in sketches', () => {
  const secret = { seed: 'sixteen secret bytes' } as const

  async function both(options: SketchBackendOptions, plans: Plans): Promise<readonly number[]> {
    const clock = new FakeClock({ nowMs: 1_000 })
    const site = new PlanSite(plans, clock, sketchBackend({ ...options, ...secret, clock }))
    await site.take('pro', 30)
    const left = [await site.left('free'), await site.left('pro')]
    await site.take('free', 5)
    left.push(await site.left('free'), await site.left('pro'))
    site.close()
    return left
  }

  test('plans with one window read the same units, each with its own algorithm and limit', async () => {
    const plans: Plans = {
      free: { algorithm: 'fixed-window', limit: 40, windowMs: MINUTE },
      pro: { algorithm: 'sliding-window', limit: 100, windowMs: MINUTE },
    }
    expect(await both({}, plans)).toEqual([10, 70, 5, 65])
  })

  test('plans with several windows do so over a history, and a larger plan binds as well', async () => {
    const plans: Plans = {
      free: { algorithm: 'sliding-window', limit: 4, windowMs: 10_000 },
      pro: { algorithm: 'sliding-window', limit: 60, windowMs: MINUTE },
    }
    const clock = new FakeClock({ nowMs: 1_000 })
    const site = new PlanSite(plans, clock, sketchBackend({ history: { unit: '1s', keep: '2m' }, ...secret, clock }))
    expect((await site.take('pro', 60)).allowed).toBe(true)
    expect((await site.take('free')).allowed).toBe(false)
    // the ten-second window of the small plan has long passed
    clock.advance(30_000)
    expect((await site.take('free')).allowed).toBe(false)
    clock.advance(3 * MINUTE)
    expect((await site.take('free')).allowed).toBe(true)
    site.close()
  })

  test('plans that a sketch does not support are rejected at start-up', () => {
    const plans: Plans = {
      free: { algorithm: 'fixed-window', limit: 40, windowMs: MINUTE },
      pro: { algorithm: 'token-bucket', limit: 100, windowMs: MINUTE },
    }
    const clock = new FakeClock()
    expect(() => new PlanSite(plans, clock, sketchBackend({ ...secret, clock }))).toThrow(
      expect.objectContaining({ code: 'SLUICE_BAD_POLICY' }),
    )
  })
})

test('one policy with plans on several backends is rejected, because no count would contain the use under all plans', () => {
  const plans = {
    free: [{ name: 'quota', limit: 1, window: '1m', backend: memoryBackend() }],
    pro: [{ name: 'quota', limit: 9, window: '1m', backend: memoryBackend() }],
  } as const
  expect(() => new RateGate({ plans, plan: () => 'free' })).toThrow(
    expect.objectContaining({ code: 'SLUICE_BAD_POLICY', message: expect.stringContaining("policy 'quota': backend") }),
  )
})
