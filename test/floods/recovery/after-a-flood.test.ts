import { describe, test } from '@jest/globals'
import { everyAlgorithm, KIB } from '../scene.ts'
import { expectBound } from './flood-recovery.ts'

describe.each(everyAlgorithm)('%s, 64 KiB: after a flood', (algorithm) => {
  test.concurrent.each([10, 6, 5])(
    'of keys that take %d of 10, new clients are wrongly denied only with the expected probability',
    (cost) => expectBound(algorithm, 64 * KIB, cost),
    60_000,
  )
})
