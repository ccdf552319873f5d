import { expect, test } from '@jest/globals'
import { createLimiter, limitOverrides } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

test('limits are loaded again after five minutes if a load never settles, and its late result is ignored', async () => {
  const clock = new FakeClock()
  const loads: ((limits: Record<string, number>) => void)[] = []
  const load = (): Promise<Record<string, number>> => new Promise((resolve) => loads.push(resolve))
  const overrides = limitOverrides({ load, refreshMs: '1m', clock })
  const policies = [{ name: 'api', limit: 10, window: '1h', algorithm: 'fixed-window', overrides }] as const
  const limiter = createLimiter({ policies, clock })
  const limitOf = async () => (await limiter.peek('key')).binding.policy.limit
  for (let minute = 0; minute < 4; minute++) clock.advance(60_000)
  expect(loads).toHaveLength(1)
  clock.advance(60_000)
  expect(loads).toHaveLength(2)
  loads[0]({ key: 99 })
  await turn()
  expect(await limitOf()).toBe(10)
  loads[1]({ key: 20 })
  await turn()
  expect(await limitOf()).toBe(20)
  clock.advance(60_000)
  expect(loads).toHaveLength(3)
  overrides.close()
})

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
