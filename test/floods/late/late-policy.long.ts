import { expect, test } from '@jest/globals'
import { baseSeed } from '@sluice/testkit'
import { everyAlgorithm, KIB, MIB } from '../scene.ts'
import { overAdmitted } from './late-clients.ts'
import { FROM_2_TO_40, wronged } from './late-policy.ts'

test.each([0, 1, 2])(
  'keys of 2 to 40 widths, order %d: no width loses a key of its share',
  async (order) => {
    expect(await wronged(MIB, 'expired', baseSeed() + order, FROM_2_TO_40)).toEqual([])
    expect(await wronged(4 * MIB, 'live', baseSeed() + order, FROM_2_TO_40)).toEqual([])
  },
  900_000,
)

test.each([...everyAlgorithm, 'any'])(
  '%s: no client of a policy that is added when the memory is full passes more than its limit and a half',
  async (algorithm) => {
    for (let order = 0; order < 3; order++) {
      expect(await overAdmitted(512 * KIB, algorithm, baseSeed() + order, FROM_2_TO_40)).toEqual([])
      expect(await overAdmitted(4 * MIB, algorithm, baseSeed() + order, [2, 8, 40])).toEqual([])
    }
    expect(await overAdmitted(64 * MIB, algorithm, baseSeed(), [8, 20])).toEqual([])
  },
  3_600_000,
)
