import { describe, test } from '@jest/globals'
import { eachSeed } from '@sluice/testkit'
import { measureThrough } from './sketch-kills.ts'

describe('uniques and digests of processes that are killed again and again', () => {
  test(
    'have all that was answered, and nothing twice',
    () => eachSeed(1, (random) => measureThrough(100, random)),
    900_000,
  )
})
