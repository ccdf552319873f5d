import { describe, test } from '@jest/globals'
import { expectBound } from './healing.ts'
import { everyAlgorithm, KIB } from './scene.ts'

describe.each(everyAlgorithm)('%s, 64 KiB: what a flood leaves behind', (algorithm) => {
  test.concurrent.each([10, 6, 5])(
    'of keys that take %d of 10 clouds as many newcomers as chance says, for as long as they last',
    (cost) => expectBound(algorithm, 64 * KIB, cost),
    60_000,
  )
})
