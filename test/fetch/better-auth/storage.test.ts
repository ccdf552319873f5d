import { describe, expect, test } from '@jest/globals'
import { betterAuthStorage } from '@sluice/fetch/better-auth'
import { createLimiter, memoryBackend } from '@sluice/limiter-core'
import { FakeClock, failingBackend } from '@sluice/testkit'

const KEY = '203.0.113.7|/sign-in/email'
const RULE = { window: 10, max: 3 }

function times<T>(count: number, run: () => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, run))
}

const ALLOWED = { allowed: true, retryAfter: null }

describe('a rule of better-auth', () => {
  test('admits its maximum in each window, and a denial states whole seconds that are never too short', async () => {
    const clock = new FakeClock()
    const storage = betterAuthStorage({ clock, backend: memoryBackend({ clock }) })
    const take = () => storage.consume(KEY, RULE)
    expect(await times(3, take)).toEqual([ALLOWED, ALLOWED, ALLOWED])
    clock.advance(1)
    expect(await take()).toEqual({ allowed: false, retryAfter: 10 })
    clock.advance(8_999)
    expect(await take()).toEqual({ allowed: false, retryAfter: 1 })
    clock.advance(1_000)
    expect(await take()).toEqual(ALLOWED)
    await storage.close()
  })

  test('does not deny a client that stays below it, however long', async () => {
    const clock = new FakeClock()
    const storage = betterAuthStorage({ clock, backend: memoryBackend({ clock }) })
    for (let asked = 0; asked < 100; asked++) {
      expect(await storage.consume(KEY, RULE)).toEqual(ALLOWED)
      clock.advance(9_000)
    }
    await storage.close()
  })

  test('has a count of its own for each key, maximum and window', async () => {
    const storage = betterAuthStorage()
    const used = async (key: string, rule: typeof RULE) =>
      (await times(9, () => storage.consume(key, rule))).filter(({ allowed }) => allowed).length
    expect(await used(KEY, RULE)).toBe(3)
    expect(await used('other', RULE)).toBe(3)
    expect(await used(KEY, { window: 10, max: 4 })).toBe(4)
    expect(await used(KEY, { window: 20, max: 3 })).toBe(3)
    expect(await used(KEY, RULE)).toBe(0)
    await storage.close()
  })

  test.each([
    [{ window: 10, max: 0 }, 0],
    [{ window: 10, max: -1 }, 0],
    [{ window: 10, max: Number.NaN }, 0],
    [{ window: 10, max: 2.5 }, 3],
    [{ window: 0.5, max: 2 }, 2],
    [{ window: 0, max: 2 }, 0],
    [{ window: Number.NaN, max: 2 }, 0],
    [{ window: 10, max: Number.POSITIVE_INFINITY }, 50],
    [{ window: Number.POSITIVE_INFINITY, max: 2 }, 0],
  ])('%p admits %i of 50 requests', async (rule, expected) => {
    const storage = betterAuthStorage()
    const answers = await times(50, () => storage.consume(KEY, rule))
    expect(answers.filter(({ allowed }) => allowed)).toHaveLength(expected)
    await storage.close()
  })

  test('is counted among 3,000 others, of which the storage keeps 1,000', async () => {
    const storage = betterAuthStorage({ backend: memoryBackend() })
    for (let max = 1; max <= 3_000; max++) {
      expect(await storage.consume(KEY, { window: 60, max })).toEqual(ALLOWED)
    }
    expect((await storage.consume(KEY, { window: 60, max: 2_001 })).allowed).toBe(true)
    await storage.close()
  })
})

test('storages with one backend share counts, unless their scopes differ', async () => {
  const backend = memoryBackend()
  const storages = ['a', 'a', 'b'].map((scope) => betterAuthStorage({ backend, scope, shared: true }))
  const allowed = []
  for (const storage of storages) {
    const answers = await times(2, () => storage.consume(KEY, RULE))
    allowed.push(answers.filter((answer) => answer.allowed).length)
  }
  expect(allowed).toEqual([2, 1, 2])
  await Promise.all(storages.map((storage) => storage.close()))
})

test('a limiter decides by its own policies', async () => {
  const limiter = createLimiter({ policies: [{ name: 'auth', limit: 2, window: '1m' }] })
  const storage = betterAuthStorage(limiter)
  const answers = await times(5, () => storage.consume(KEY, { window: 1, max: 100 }))
  expect(answers.filter(({ allowed }) => allowed)).toHaveLength(2)
  await storage.close()
  // the limiter stays open
  expect(limiter.take('other').allowed).toBe(true)
  limiter.close()
})

test.each([
  ['allow', 50],
  ['deny', 0],
  ['local', 3],
] as const)(
  'the failure rule %s admits %i of 50 requests while the backend fails',
  async (onBackendError, expected) => {
    const storage = betterAuthStorage({
      backend: failingBackend(() => Promise.reject(new Error('lost'))),
      onBackendError,
    })
    const answers = await times(50, () => storage.consume(KEY, RULE))
    expect(answers.filter(({ allowed }) => allowed)).toHaveLength(expected)
    await storage.close()
  },
)
