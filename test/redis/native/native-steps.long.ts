import { expect, test } from '@jest/globals'
import { liveNatively } from './native-steps.ts'

test('native commands and scripts return identical answers: a million random steps', async () => {
  const { steps, commands } = await liveNatively(50, 20_000)
  expect(steps).toBeGreaterThanOrEqual(1_000_000)
  expect(commands).toBeGreaterThan(steps / 4)
}, 1_800_000)
