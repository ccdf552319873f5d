import { describe, test } from '@jest/globals'
import { everyAlgorithm, KIB, MIB } from '../scene.ts'
import { expectBound } from './flood-recovery.ts'

describe.each([512 * KIB, 4 * MIB, 64 * MIB])('%d bytes', (maxBytes) => {
  test.each(everyAlgorithm)(
    '%s: the remains of a flood wrongly deny new clients only with the expected probability, until they expire',
    (algorithm) => expectBound(algorithm, maxBytes, 10),
    1_800_000,
  )
})
