import { expect, test } from '@jest/globals'
import { rateLimit, sluiceOf } from '@sluice/fetch'
import { createLimiter, type Decision, type Limiter, type PolicyInput } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

// a policy in shadow mode that would deny a request is not charged, and a refund of the request returned units of others

const POLICIES: readonly PolicyInput[] = [
  { name: 'real', limit: 10, window: '1m', algorithm: 'fixed-window' },
  { name: 'trial', limit: 3, window: '1m', algorithm: 'fixed-window', mode: 'shadow' },
]

async function leftOf(limiter: Limiter): Promise<readonly number[]> {
  return (await limiter.peek('a', 0)).verdicts.map(({ remaining }) => remaining)
}

test('a refund returns nothing to a shadow policy that took nothing', async () => {
  const limiter = createLimiter({ policies: POLICIES, clock: new FakeClock() }) as Limiter<Decision>
  limiter.take('a', 2)
  const taken = limiter.take('a', 2)
  expect(await leftOf(limiter)).toEqual([6, 1])
  limiter.charge('a', -2, taken)
  expect(await leftOf(limiter)).toEqual([8, 1])
  limiter.close()
})

test('a refund of a denied request returns nothing', async () => {
  const limiter = createLimiter({ policies: POLICIES, clock: new FakeClock() }) as Limiter<Decision>
  limiter.take('a', 2)
  limiter.charge('a', -2, limiter.take('a', 20))
  expect(await leftOf(limiter)).toEqual([8, 1])
  limiter.close()
})

test('a refund by a handler returns nothing to a shadow policy that took nothing', async () => {
  const key = (request: Request): string => request.headers.get('x-key') ?? ''
  const limit = rateLimit({ policies: POLICIES, key, cost: 2, clock: new FakeClock() })
  const handle = limit.wrap((request: Request) => {
    if (request.headers.has('x-refund')) void sluiceOf(request)?.charge(-2)
    return new Response(null)
  })
  await handle(new Request('http://x/', { headers: { 'x-key': 'a' } }))
  await handle(new Request('http://x/', { headers: { 'x-key': 'a', 'x-refund': 'yes' } }))
  expect(await leftOf(limit.limiter)).toEqual([8, 1])
  limit.close()
})
