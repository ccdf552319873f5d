import { expect, test } from '@jest/globals'
import { createInflightLimiter, type Permit } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

test('a permit of a custom backend reports its release once, with the time it was held', async () => {
  const clock = new FakeClock()
  let given = 0
  const permit: Permit = {
    lost: new AbortController().signal,
    release: () => {
      given++
    },
    [Symbol.dispose]() {},
  }
  const held: number[] = []
  const cap = createInflightLimiter({
    limit: 1,
    backend: { acquire: async () => permit },
    clock,
    observers: [{ permitReleased: (_key, ms) => held.push(ms) }],
  })
  const mine = await cap.acquire()
  clock.advance(250)
  mine?.release()
  mine?.release()
  expect(held).toEqual([250])
  expect(given).toBe(2)
})
