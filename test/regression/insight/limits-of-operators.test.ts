import { expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/fetch'
import { type Answer, type Backend, limitOverrides, memoryBackend } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { Operator } from '../../limiter/controls/controlled.ts'

const ALGORITHMS = ['gcra', 'token-bucket', 'fixed-window', 'sliding-window', 'sliding-log'] as const
const BASE = { name: 'api', window: '1h', key: (request: Request) => request.headers.get('k') ?? 'anna' } as const

type Options = Parameters<typeof rateLimit>[0]

function benchOf(options: object) {
  const clock = new FakeClock({ nowMs: 600_000 })
  const operator = new Operator()
  const backend: Backend<Answer> = memoryBackend({ clock })
  const given = { ...BASE, ...options, clock, backend, observers: [operator] }
  const isGiven = ([, value]: readonly unknown[]): boolean => value !== undefined
  const limit = rateLimit(Object.fromEntries(Object.entries(given).filter(isGiven)) as unknown as Options)
  const handle = limit.wrap(() => new Response('ok'))
  const statuses = async (count: number): Promise<number[]> => {
    const all: number[] = []
    for (let at = 0; at < count; at++) all.push((await handle(new Request('http://x/'))).status)
    return all
  }
  return { clock, operator, limit, handle, statuses }
}

test.each([
  ['a limit function', { limit: () => 10 }],
  ['an asynchronous limit function', { limit: async () => 10 }],
  ['limit and window functions', { limit: () => 10, window: (): string => '2h' }],
  ['a window function', { limit: 10, window: (): string => '2h' }],
  [
    'plans',
    {
      name: undefined,
      limit: undefined,
      window: undefined,
      plans: { free: [{ name: 'api', limit: 10, window: '1h' }] },
      plan: () => 'free',
    },
  ],
])('the limit of an operator applies to %s, and to no request after it is undone', async (_what, options) => {
  const { operator, statuses } = benchOf(options)
  operator.setControls({ api: { limit: 2 } })
  expect(await statuses(3)).toEqual([200, 200, 429])
  operator.release()
  expect(await statuses(9)).toEqual([...Array(8).fill(200), 429])
})

test.each([9, 10, 11])('a key with an override of %i keeps it, whether it equals the limit or not', async (own) => {
  const { operator, statuses } = benchOf({ limit: 10, overrides: limitOverrides({ limits: { anna: own } }) })
  operator.setControls({ api: { limit: 2 } })
  expect(await statuses(own + 1)).toEqual([...Array(own).fill(200), 429])
})

test.each(ALGORITHMS.flatMap((algorithm) => [100, () => 100].map((limit) => [algorithm, limit] as const)))(
  'a charge outside of a request counts in the count of its key: %s, limit %p',
  async (algorithm, limitOf) => {
    const { limit, statuses, handle } = benchOf({
      limit: algorithm === 'sliding-log' && limitOf !== 100 ? () => 100 : limitOf,
      algorithm,
    })
    expect((await statuses(101)).filter((status) => status === 200)).toHaveLength(100)
    const waitOf = async (): Promise<number> =>
      Number((await handle(new Request('http://x/'))).headers.get('retry-after'))
    const before = await waitOf()
    await limit.limiter.charge('anna', 10)
    expect(await statuses(1)).toEqual([429])
    const drains = algorithm === 'gcra' || algorithm === 'token-bucket'
    expect(await waitOf()).toBe(drains ? before + 360 : before)
    expect((await limit.limiter.peek('anna')).binding).toMatchObject({ remaining: 0, policy: { limit: 100 } })
    await limit.limiter.reset('anna')
    expect(await statuses(1)).toEqual([200])
  },
)

test('a reset clears the counts of a key under all windows', async () => {
  const windowOf = (request: Request): string => request.headers.get('w') ?? '1m'
  const { handle, limit } = benchOf({ limit: 1, window: windowOf })
  const ask = async (window: string): Promise<number> =>
    (await handle(new Request('http://x/', { headers: { w: window } }))).status
  for (const window of ['1m', '5m', '1h']) expect([await ask(window), await ask(window)]).toEqual([200, 429])
  await limit.limiter.reset('anna')
  for (const window of ['1m', '5m', '1h']) expect(await ask(window)).toBe(200)
})
