import { expect, test } from '@jest/globals'
import { createInsight } from '@sluice/insight'
import { createLimiter } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

// a ban that this process knows is answered without the backend, which was then called unresponsive
test('a banned key is explained as banned, and its backend is not called unresponsive', async () => {
  const clock = new FakeClock()
  const insight = createInsight({ clock })
  const ban = { after: 2, within: '1m', for: '10m' } as const
  const policies = [{ name: 'burst', limit: 1, window: '10s', ban }] as const
  const limiter = createLimiter({ policies, clock, observers: [insight] })
  for (let call = 0; call < 3; call++) limiter.take('acme')
  clock.advance(60_000)
  const { summary, policies: explained } = await insight.explain('acme')
  expect(summary).toEqual(["denied by 'burst': banned, 1 requested, retry in 9 min, counted in this process only"])
  expect(explained).toMatchObject([{ isCounted: true, source: 'banned' }])
  limiter.close()
  await insight.close()
})

test('bounds of operator changes that are not { min, max } are refused by the name of their policy', () => {
  const bounded = (burst: unknown) => () =>
    createInsight({ control: { limits: { burst: burst as { min: number; max: number } } } })
  expect(bounded([1, 100])).toThrow('createInsight: control.limits.burst: expected { min, max }, received an array')
  expect(bounded({ min: 9, max: 5 })).toThrow('control.limits.burst: max: expected an integer of at least min (9)')
})
