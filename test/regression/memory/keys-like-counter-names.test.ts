import { expect, test } from '@jest/globals'
import { createLimiter, memoryBackend } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

const policies = (algorithm: 'fixed-window' | 'sliding-log') =>
  ['p1', 'p2'].map((name) => ({ name, algorithm, limit: 4, window: '1h' }) as const)

// a count's salt is the hash of its name: hash(p2) ^ salt(p1) = hash(p1) ^ salt(p2) under every seed
test('under one policy the name of the other, and the other way round, are two counts', () => {
  const limiter = createLimiter({ policies: policies('fixed-window'), backend: memoryBackend() })
  const crossed = { p1: 'default/p2/fixed-window@1', p2: 'default/p1/fixed-window@1' }
  expect(limiter.take(crossed, 2).verdicts.map(({ remaining }) => remaining)).toEqual([2, 2])
})

test('under each policy its own name is a count of its own', () => {
  const limiter = createLimiter({ policies: policies('fixed-window'), backend: memoryBackend() })
  const own = { p1: 'default/p1/fixed-window@1', p2: 'default/p2/fixed-window@1' }
  expect(limiter.take(own, 2).verdicts.map(({ remaining }) => remaining)).toEqual([2, 2])
})

// two charges that fit one by one met in one count, and the second wrote beyond its cells
test('such keys leave the cells of other keys alone', () => {
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
