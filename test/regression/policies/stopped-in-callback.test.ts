import { expect, test } from '@jest/globals'
import { urlSource } from '@sluice/policies'
import { FakeClock } from '@sluice/testkit'

// regression: the next look was scheduled after the call, so a watch that the call stopped went on forever
test('a watch of a source can be stopped by the function that it calls', () => {
  const clock = new FakeClock()
  let calls = 0
  const stop = urlSource('http://localhost/policies.yaml', { clock }).watch(
    () => {
      calls++
      stop()
    },
    { clock, intervalMs: 1_000 },
  )
  for (let second = 0; second < 10; second++) clock.advance(1_000)
  expect([calls, clock.pending]).toEqual([1, 0])
})
