import { describe, test } from '@jest/globals'
import { numberOfRuns } from '@sluice/testkit'
import { everyAlgorithm, KIB } from '../scene.ts'
import { expectBound } from './flood-recovery.ts'

/** `npm test` takes the first two. */
const costs = [10, 5, 6].slice(0, numberOfRuns(6))

describe.each(everyAlgorithm)('%s, 64 KiB: after a flood', (algorithm) => {
  test.concurrent.each(costs)(
    'of keys that take %d of 10, new clients are wrongly denied only with the expected probability',
    (cost) => expectBound(algorithm, 64 * KIB, cost),
    60_000,
  )
})
