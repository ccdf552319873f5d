import { expect, test } from '@jest/globals'
import { createLimiter, memoryBackend } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

const policies = (algorithm: 'fixed-window' | 'sliding-log') =>
  ['p1', 'p2'].map((name) => ({ name, algorithm, limit: 4, window: '1h' }) as const)

// the salt of a counter is the hash of its name: hash(p2) ^ salt(p1) = hash(p1) ^ salt(p2) with every seed
test('a key named like the other policy, and the reverse, are counted separately', () => {
  const limiter = createLimiter({ policies: policies('fixed-window'), backend: memoryBackend() })
  const crossed = { p1: 'default/p2/fixed-window@1', p2: 'default/p1/fixed-window@1' }
  expect(limiter.take(crossed, 2).verdicts.map(({ remaining }) => remaining)).toEqual([2, 2])
})

test('a key named like its own policy is counted separately under each policy', () => {
  const limiter = createLimiter({ policies: policies('fixed-window'), backend: memoryBackend() })
  const own = { p1: 'default/p1/fixed-window@1', p2: 'default/p2/fixed-window@1' }
  expect(limiter.take(own, 2).verdicts.map(({ remaining }) => remaining)).toEqual([2, 2])
})

// regression: two charges that fit separately met in one counter, and the second wrote beyond its cells
test('such keys leave the cells of other keys unchanged', () => {
  const clock = new FakeClock({ nowMs: 5 })
  let wrong = 0
  for (let seed = 0; seed < 60; seed++) {
    const limiter = createLimiter({ policies: policies('sliding-log'), backend: memoryBackend({ clock }) })
    const others = Array.from({ length: 220 }, (_, index) => `other-${index}`)
    for (const key of others) limiter.take(key)
    limiter.take({ p1: 'default/p2/sliding-log@1', p2: 'default/p1/sliding-log@1' }, 4)
    wrong += others.filter((key) => limiter.peek(key).verdicts.some(({ remaining }) => remaining !== 3)).length
  }
  expect(wrong).toBe(0)
})
