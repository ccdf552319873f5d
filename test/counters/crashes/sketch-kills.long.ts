import { describe, test } from '@jest/globals'
import { eachSeed } from '@sluice/testkit'
import { measureThrough } from './sketch-kills.ts'

describe('uniques and digests of processes that are killed many times', () => {
  test(
    'contain everything that was acknowledged, and nothing twice',
    () => eachSeed(1, (random) => measureThrough(100, random)),
    900_000,
  )
})
