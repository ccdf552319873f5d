import { expect, test } from '@jest/globals'
import { eachSeed } from '@sluice/testkit'
import { RandomLife } from './random-simulation.ts'

test('whatever happens to a fleet, its ledger counts every unit once', async () => {
  await eachSeed(40, async (random) => {
    const life = new RandomLife(random)
    expect({ wrongs: await life.live(), of: life.options }).toEqual({ wrongs: [], of: life.options })
  })
})
