import { expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { eachSeed, FakeClock } from '@sluice/testkit'
import { HoldWalk } from './hold-walk.ts'

const RUNS = 30
const STEPS = 150

test('random holds of several processes have the results of the model, across the ends of periods', () =>
  eachSeed(RUNS, async (random) => {
    expect(await new HoldWalk(new MemoryLedger(new FakeClock()), 'walk', random).run(STEPS)).toBeUndefined()
  }))
