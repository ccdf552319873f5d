import { expect, test } from '@jest/globals'
import { numberOfRuns } from '@sluice/testkit'
import { liveNatively } from './native-steps.ts'

test('native commands and scripts return identical answers: 12,000 random steps', async () => {
  const { steps, commands } = await liveNatively(6, 2_000)
  expect(steps).toBeGreaterThanOrEqual(numberOfRuns(12_000))
  expect(commands).toBeGreaterThan(steps / 4)
})
