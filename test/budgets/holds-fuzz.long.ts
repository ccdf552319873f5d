import { expect, test } from '@jest/globals'
import { memoryBackend } from '@sluice/limiter-core'
import { eachSeed, FakeClock } from '@sluice/testkit'
import { holdHistory } from './holds-fuzz.ts'

test('a million random steps of holds never exceed the budget, and leave nothing reserved', () =>
  eachSeed(10, async (random) => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const backend = memoryBackend({ clock })
    const { most, free, unspent, usable } = await holdHistory(100_000, () => backend, clock, random)
    expect([most, free - unspent, usable]).toEqual([0, 0, 100_000])
  }))
