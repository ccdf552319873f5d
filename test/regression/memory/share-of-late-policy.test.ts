import { expect, test } from '@jest/globals'
import { baseSeed } from '@sluice/testkit'
import { wronged } from '../../floods/late-policy.ts'
import { KIB, MIB } from '../../floods/scene.ts'

const seed = baseSeed()

// an arena whose shards had one page each gave no more, so that one of an eleventh width was left with its first page:
// a client's count was gone before its next request, and 150 of 155 passed a limit of 31
test.concurrent(`keys of 2 to 40 widths in any order: what has expired is had by whoever comes last (seed ${seed})`, async () => {
  // every number in between, in late-policy.long.ts
  expect(await wronged(512 * KIB, 'expired', seed, [2, 3, 5, 8, 10, 11, 12, 17, 23, 31, 40])).toEqual([])
}, 60_000)

test.concurrent(`where the keys of all others live an equal share is had by whoever comes last (seed ${seed})`, async () => {
  expect(await wronged(4 * MIB, 'live', seed, [2, 5, 11, 40])).toEqual([])
}, 60_000)
