import { expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/fetch'
import { learnedReserve } from '@sluice/quotas/budgets'
import { eachSeed } from '@sluice/testkit'

interface Asked {
  readonly model: string
  readonly used: number | undefined
}

const done = { completed: true, durationMs: 1, status: 200 }

test('a class reserves the initial units until it has learned 20 costs, then the quantile', async () => {
  const learned = learnedReserve<Asked, null>({ by: ({ model }) => model, settle: ({ used }) => used, initial: 500 })
  for (let times = 1; times <= 100; times++) {
    const request = { model: 'small', used: times }
    const reserved = learned.cost.reserve(request)
    if (times <= 20) expect(reserved).toBe(500)
    await learned.cost.settle(request, null, done)
  }
  const reserved = learned.cost.reserve({ model: 'small', used: 1 })
  expect(reserved).toBeGreaterThanOrEqual(94)
  expect(reserved).toBeLessThanOrEqual(97)
  expect(learned.cost.reserve({ model: 'large', used: 1 })).toBe(500)
  expect([...learned.stats().keys()]).toEqual(['small'])
})

test('about 5 % of the requests cost more than they have reserved, also after their costs have changed', () =>
  eachSeed(4, (random) => {
    const learned = learnedReserve<Asked, null>({ settle: ({ used }) => used, initial: 10_000 })
    const ask = (scale: number): boolean => {
      const used = Math.ceil(-Math.log(1 - random.next()) * scale)
      const request = { model: '', used }
      const isUnder = learned.cost.reserve(request) < used
      learned.cost.settle(request, null, done)
      return isUnder
    }
    const shareOf = (scale: number, requests: number): number =>
      Array.from({ length: requests }, () => ask(scale)).filter(Boolean).length / requests
    shareOf(300, 1_000)
    expect(shareOf(300, 4_000)).toBeLessThan(0.07)
    shareOf(1_200, 2_500)
    const share = shareOf(1_200, 4_000)
    expect([share > 0.03, share < 0.07]).toEqual([true, true])
    const stats = learned.stats().get('')
    expect(stats?.requests).toBe(11_500)
    expect(stats?.underReservedShare).toBe((stats?.underReserved ?? 0) / 11_500)
  }))

test('unknown costs are not learned, and classes that are not used are forgotten', async () => {
  const learned = learnedReserve<Asked, null>({
    by: ({ model }) => model,
    settle: async ({ used }) => used,
    initial: 5,
    maxClasses: 2,
    min: 3,
    max: 8,
  })
  const ask = async (model: string, used: number | undefined): Promise<number> => {
    const request = { model, used }
    const reserved = learned.cost.reserve(request)
    expect(await learned.cost.settle(request, null, done)).toBe(used)
    return reserved
  }
  expect(await ask('a', undefined)).toBe(5)
  expect(learned.stats().size).toBe(0)
  for (let times = 0; times < 40; times++) {
    await ask('a', 100)
    await ask('b', 1)
  }
  expect([await ask('a', 1), await ask('b', 1)]).toEqual([8, 3])
  await ask('c', 1)
  expect([...learned.stats().keys()]).toEqual(['b', 'c'])
})

test('it is the option cost of rateLimit', async () => {
  const learned = learnedReserve<Request, unknown>({ settle: () => 30, initial: 50 })
  const limit = rateLimit({
    name: 'tokens',
    limit: 100,
    window: '1h',
    maxHoldMs: '1m',
    key: () => 'all',
    cost: learned.cost,
  })
  const handle = limit.wrap(() => new Response('ok'))
  const statuses: number[] = []
  for (let times = 0; times < 4; times++) {
    const response = await handle(new Request('http://localhost/'))
    await response.text()
    statuses.push(response.status)
  }
  // 50, then 30 + 50; the third request would need 110
  expect(statuses).toEqual([200, 200, 429, 429])
  expect(learned.stats().get('')?.requests).toBe(2)
  limit.close()
})

test('bad options have coded errors', () => {
  const settle = (): number => 1
  const bad: object[] = [
    { initial: 1 },
    { settle, initial: 0 },
    { settle, initial: 1, quantile: 1 },
    { settle, initial: 1, quantile: Number.NaN },
    { settle, initial: 1, by: 'model' },
    { settle, initial: 1, min: 5, max: 4 },
    { settle, initial: 1, maxClasses: 0 },
    { settle, initial: 1, p95: true },
  ]
  for (const options of bad) {
    expect(() => learnedReserve(options as never)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
  }
})
