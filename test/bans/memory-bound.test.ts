import { expect, test } from '@jest/globals'
import { banKeys } from './banned-keys.ts'

test('banned keys stay within the memory of the backend, and the keys that were banned last stay banned', () => {
  const maxBytes = 2 * 2 ** 20
  const { bytes, bannedOfLast } = banKeys(50_000, maxBytes)
  expect(bytes).toBeLessThanOrEqual(maxBytes)
  expect(bannedOfLast).toBe(1_000)
})
