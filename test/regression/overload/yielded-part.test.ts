import { expect, test } from '@jest/globals'
import { YieldedPart } from '../../../packages/overload/src/limits/yielded-part.ts'

test('a late class yields and gets its places back after the clock was set back', () => {
  const part = new YieldedPart()
  part.othersLate(3_600_000)
  expect(part.of(100, 3_600_000)).toBe(50)
  // the clock is set back by an hour
  part.othersLate(0)
  part.othersLate(500)
  expect(part.of(100, 500)).toBe(25)
  expect(part.of(100, 5_499)).toBe(25)
  expect(part.of(100, 5_500)).toBe(31)
})
