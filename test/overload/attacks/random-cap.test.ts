import { expect, test } from '@jest/globals'
import { eachSeed, numberOfRuns } from '@sluice/testkit'
import { RandomCap } from './random-cap.ts'

test('a cap with all options holds no more than its limit, answers once and forgets nothing, at random', async () => {
  let waited = 0
  await eachSeed(150, async (random) => {
    const cap = new RandomCap(random)
    await cap.play(400)
    waited += cap.waited
  })
  process.stdout.write(`${waited} of 60,000 commands waited\n`)
  expect(waited).toBeGreaterThan(numberOfRuns(1_000))
})
