import { afterEach, expect, test } from '@jest/globals'
import { closeBenches, failoverBench, openBreaker, settled } from '../../failover/flaky-backend.ts'

afterEach(closeBenches)

test('a limiter that is closed during its trial call leaves the next trial call to others', async () => {
  const one = failoverBench()
  const [closed, other] = [one.limiter(), one.limiter()]
  await openBreaker(one, closed)
  one.clock.advance(1_000)
  await closed.take('key')
  await settled()
  one.flaky.condition = 'silent'
  const trial = closed.take('key')
  closed.close()
  expect((await trial).counted).toBe(false)
  one.flaky.condition = 'well'
  expect(await one.takes(other, 2)).toBe('+counted +counted')
})
