import { afterEach, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { closeBenches, type FailoverBench, failoverBench, settled } from '../../failover/flaky-backend.ts'

afterEach(closeBenches)

/** Makes the backend return thenables that never settle, as a query does that runs on each call of `then`. */
function runsOf({ flaky }: FailoverBench): { readonly runs: string[] } {
  const runs: string[] = []
  // biome-ignore lint/suspicious/noThenProperty: the backend of a user may return one
  flaky.condition = (call) => ({ then: () => void runs.push(call) })
  return { runs }
}

test.each([
  ['one policy', ['a']],
  ['several policies', ['a', 'b']],
])('a call whose answer is late runs once, although it is a thenable: %s', async (_, names) => {
  const one = failoverBench()
  Object.assign(one.flaky, { passed: () => {} })
  const policies = names.map((name) => ({ name, limit: 4, window: '1m' }) as const)
  const limiter = createLimiter({ policies, backend: one.flaky, clock: one.clock })
  const taken = await limiter.take('key')
  const { runs } = runsOf(one)
  const take = limiter.take('key')
  await settled()
  one.clock.advance(50)
  expect((await take).source).toBe('local')
  await settled()
  expect(runs).toEqual(['take'])
  const charge = limiter.charge('key', 1, taken)
  await settled()
  one.clock.advance(50)
  await charge
  await settled()
  expect(runs).toEqual(['take', ...names.map(() => 'adjust')])
})
