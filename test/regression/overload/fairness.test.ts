import { expect, test } from '@jest/globals'
import { FakeClock } from '@sluice/testkit'
import { FairCap } from './fair-cap.ts'

// regression: the largest usage was forgotten by the number of requests, not by time, so that after a heavy client had
// left, all others looked alike for a long time
test('a pause after a very heavy client does not make the others equal', async () => {
  const clock = new FakeClock()
  const fair = new FairCap(clock)
  await fair.use('enormous', 100_000_000)
  await fair.use('enormous', 0)
  clock.advance(60_000)
  await fair.use('heavy', 5_000)
  expect(await fair.refused('heavy', 'light')).toBe('heavy')
})
