import { test } from '@jest/globals'
import { eachSeed } from '@sluice/testkit'
import { RandomCap } from './random-cap.ts'

test(
  'a cap with all options holds no more than its limit, answers once and forgets nothing, at random',
  () => eachSeed(5_000, (random) => new RandomCap(random).play(1_000)),
  3_600_000,
)
