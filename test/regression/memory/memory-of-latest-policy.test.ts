import { expect, test } from '@jest/globals'
import { baseSeed } from '@sluice/testkit'
import { wronged } from '../../floods/late/late-policy.ts'
import { KIB, MIB } from '../../floods/scene.ts'

const seed = baseSeed()

// regression: arenas with one page per shard released none, so an eleventh width kept only its first page: a client's
// count was gone before its next request, and 150 of 155 requests passed a limit of 31
test.concurrent(`keys of 2 to 40 widths in any order: the memory of expired keys goes to the latest policy (seed ${seed})`, async () => {
  // all numbers in between run in late-policy.long.ts
  expect(await wronged(512 * KIB, 'expired', seed, [2, 5, 11, 12, 23, 40])).toEqual([])
})

test.concurrent(`if the keys of all others are live, the latest policy gets an equal share (seed ${seed})`, async () => {
  expect(await wronged(4 * MIB, 'live', seed, [11])).toEqual([])
})
