import { expect, test } from '@jest/globals'
import { memoryBackend } from '@sluice/limiter-core'
import { eachSeed, FakeClock } from '@sluice/testkit'
import { holdHistory } from './holds-fuzz.ts'

test('random holds never exceed the budget, leave nothing reserved, and all of it can be spent', () =>
  eachSeed(8, async (random) => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const backend = memoryBackend({ clock })
    const { most, free, unspent, usable } = await holdHistory(2_500, () => backend, clock, random)
    expect([most, free - unspent, usable]).toEqual([0, 0, 2_500])
  }))
