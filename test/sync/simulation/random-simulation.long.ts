import { expect, test } from '@jest/globals'
import { eachSeed } from '@sluice/testkit'
import { RandomLife } from './random-simulation.ts'

test('whatever happens to a fleet, its ledger counts every unit once', async () => {
  const wrong: string[] = []
  await eachSeed(300, async (random, seed) => {
    const life = new RandomLife(random)
    const wrongs = await life.live()
    for (const one of wrongs) wrong.push(`seed ${seed}: ${one}`)
    if (wrongs.length > 0) wrong.push(JSON.stringify(life.options))
  })
  expect(wrong.join('\n')).toBe('')
}, 3_600_000)
