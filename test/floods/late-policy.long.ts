import { expect, test } from '@jest/globals'
import { baseSeed } from '@sluice/testkit'
import { FROM_2_TO_40, wronged } from './late-policy.ts'
import { MIB } from './scene.ts'

test.each([0, 1, 2])(
  'keys of 2 to 40 widths, order %d: no width loses a key of its share',
  async (order) => {
    expect(await wronged(MIB, 'expired', baseSeed() + order, FROM_2_TO_40)).toEqual([])
    expect(await wronged(4 * MIB, 'live', baseSeed() + order, FROM_2_TO_40)).toEqual([])
  },
  900_000,
)
