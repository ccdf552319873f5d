import { describe, test } from '@jest/globals'
import { expectBound } from './healing.ts'
import { everyAlgorithm, KIB, MIB } from './scene.ts'

describe.each([512 * KIB, 4 * MIB, 64 * MIB])('%d bytes', (maxBytes) => {
  test.each(everyAlgorithm)(
    '%s: what a flood leaves behind clouds as many newcomers as chance says, for as long as it lasts',
    (algorithm) => expectBound(algorithm, maxBytes, 10),
    1_800_000,
  )
})
