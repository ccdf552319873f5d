import { describe, test } from '@jest/globals'
import { eachSeed } from '@sluice/testkit'
import { longSettings, runSeed } from './settings.ts'

/** Number of schedules of each kind: `SLUICE_SCHEDULES` in the environment. */
const SCHEDULES = Number(process.env.SLUICE_SCHEDULES ?? 20)

describe.each(longSettings)('$name', (setting) => {
  test(
    `${setting.promise}, through ${SCHEDULES} long schedules of faults`,
    () => eachSeed(SCHEDULES, (_, seed) => runSeed(setting, seed, 'long')),
    3_600_000,
  )
})
