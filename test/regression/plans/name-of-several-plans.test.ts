import { expect, test } from '@jest/globals'
import { RateGate } from '@sluice/http'
import { createLimiter, memoryBackend } from '@sluice/limiter-core'

test('a plugin scope whose policy is in several plans releases its name once, and other scopes keep it', () => {
  const backend = memoryBackend()
  const plans = {
    free: [{ name: 'quota', limit: 1, window: '1m' }],
    pro: [{ name: 'quota', limit: 9, window: '1m' }],
  } as const
  const app = new RateGate({ plans, plan: () => 'free', backend })
  const own = { name: 'login', limit: 5, window: '1m', scope: 'login' } as const
  const [part] = [1, 2].map((place) => app.nested({ options: own, routeScope: `part ${place}` }))
  const other = () => createLimiter({ policies: [{ name: 'login', limit: 7, window: '1m' }], scope: 'login', backend })
  part.close()
  expect(other).toThrow(/SLUICE_DUPLICATE_POLICY/)
})
