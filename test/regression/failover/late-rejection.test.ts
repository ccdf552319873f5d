import { afterEach, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { closeBenches, failoverBench, serverError, settled } from '../../failover/flaky-backend.ts'

afterEach(closeBenches)

// an unhandled rejection would end the process, and fails a test

test.each([
  ['that reads a policy', ['a'], 0],
  ['that reads several policies', ['a', 'b'], 0],
  ['that the failure rule denies', ['a', 'b'], 5],
])('the rejection of a take %s is handled after its deadline', async (_, names, cost) => {
  const { clock, flaky } = failoverBench()
  Object.assign(flaky, { passed: () => {} })
  const policies = names.map((name) => ({ name, limit: 4, window: '1m' }) as const)
  const limiter = createLimiter({ policies, backend: flaky, clock })
  let reject = (_error: Error): void => {}
  flaky.condition = () =>
    new Promise((_resolve, refuse) => {
      reject = refuse
    })
  const decision = limiter.take('key', cost)
  clock.advance(50)
  expect(await decision).toMatchObject({ allowed: cost === 0, counted: false, source: 'local' })
  reject(serverError('CLOSED'))
  await settled()
  await settled()
})
