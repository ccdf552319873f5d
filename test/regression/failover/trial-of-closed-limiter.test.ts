import { afterEach, expect, test } from '@jest/globals'
import { closeWards, openBreaker, settled, ward } from '../../failover/patient.ts'

afterEach(closeWards)

test('a limiter that is closed during its trial call leaves the next trial call to others', async () => {
  const one = ward()
  const [closed, other] = [one.limiter(), one.limiter()]
  await openBreaker(one, closed)
  one.clock.advance(1_000)
  await closed.take('key')
  await settled()
  one.patient.condition = 'silent'
  const trial = closed.take('key')
  closed.close()
  expect((await trial).counted).toBe(false)
  one.patient.condition = 'well'
  expect(await one.takes(other, 2)).toBe('+counted +counted')
})
