import { expect, test } from '@jest/globals'
import { banKeys } from './banned-keys.ts'

test('a million banned keys stay within the memory of the backend, and the last of them stay banned', () => {
  const maxBytes = 32 * 2 ** 20
  const { bytes, bannedOfLast } = banKeys(1_000_000, maxBytes)
  expect(bytes).toBeLessThanOrEqual(maxBytes)
  expect(bannedOfLast).toBe(1_000)
}, 300_000)
