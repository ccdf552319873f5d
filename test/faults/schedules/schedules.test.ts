import { describe, test } from '@jest/globals'
import { eachSeed } from '@sluice/testkit'
import { runSeed, settings } from './settings.ts'

const TIMEOUT_MS = 120_000

describe.each(settings)('$name', (setting) => {
  test(
    `${setting.promise}, through random schedules of faults`,
    () => eachSeed(setting.seeds, (_, seed) => runSeed(setting, seed, 'short')),
    TIMEOUT_MS,
  )
})
