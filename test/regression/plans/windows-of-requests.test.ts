import { expect, test } from '@jest/globals'
import { type FetchReply, type PlansOptions, rateLimit, sluiceOf } from '@sluice/fetch'
import type { Decision } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

type Plans = PlansOptions<Request, FetchReply>['plans']

/** Returns a function that makes a request under a plan, with a window in ms. */
function limitOf(plans: Plans): (plan: string, windowMs: number) => Promise<Decision> {
  const limit = rateLimit({
    plans,
    plan: (request: Request) => request.headers.get('x-plan') as string,
    key: () => 'key',
    clock: new FakeClock(),
  })
  const handle = limit.wrap(() => new Response(null))
  return async (plan, windowMs) => {
    const request = new Request('http://x/', { headers: { 'x-plan': plan, 'x-window': `${windowMs}` } })
    await handle(request)
    return sluiceOf(request)?.decision as Decision
  }
}

const window = (request: Request): number => Number(request.headers.get('x-window'))

// such plans store more cells than one policy, which a window of its own did not have
test.each([
  ['algorithms', { free: 'fixed-window', pro: 'sliding-log' }, 5, 10],
  ['rates', { free: 'token-bucket', pro: 'token-bucket' }, 5, 10],
  ['rates', { free: 'gcra', pro: 'gcra' }, 5, 20_000],
] as const)('requests under plans with different %s have the window of the function', async (_, by, few, many) => {
  const take = limitOf({
    free: [{ name: 'api', limit: few, window, algorithm: by.free }],
    pro: [{ name: 'api', limit: many, window, algorithm: by.pro }],
  })
  const { binding } = await take('free', 10_000)
  expect(binding).toMatchObject({ allowed: true, remaining: few - 1, policy: { windowMs: 10_000 } })
  expect((await take('free', 30_000)).binding).toMatchObject({ remaining: few - 1, policy: { windowMs: 30_000 } })
})

test('usage in the window of a function is kept after a change of the plan', async () => {
  const take = limitOf({
    free: [{ name: 'api', limit: 5, window, algorithm: 'fixed-window' }],
    pro: [{ name: 'api', limit: 20, window, algorithm: 'sliding-log' }],
  })
  for (let request = 0; request < 3; request++) await take('free', 10_000)
  expect((await take('pro', 10_000)).binding).toMatchObject({ remaining: 16, policy: { limit: 20 } })
  expect((await take('free', 10_000)).allowed).toBe(true)
  expect((await take('free', 10_000)).allowed).toBe(false)
})

test('limits and windows of functions apply together under plans with different algorithms', async () => {
  const limit = (request: Request): number => Number(request.headers.get('x-window')) / 1_000
  const take = limitOf({
    free: [{ name: 'api', limit, window, algorithm: 'fixed-window' }],
    pro: [{ name: 'api', limit, window, algorithm: 'gcra' }],
  })
  expect((await take('free', 10_000)).binding).toMatchObject({ policy: { limit: 10, windowMs: 10_000 } })
  expect((await take('pro', 20_000)).binding).toMatchObject({ policy: { limit: 20, windowMs: 20_000 } })
})
