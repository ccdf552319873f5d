import { expect, test } from '@jest/globals'
import { childResult } from '../../floods/child.ts'
import { KIB } from '../../floods/scene.ts'

// a page of a sliding log of a hundred is 424 KB, and one page always exists
test.each([100])('64 KiB hold the first page of a sliding log of %d', async (limit) => {
  const args = [String(64 * KIB), '20000', 'sliding-log', String(limit)]
  const { peakBuffers } = await childResult<{ peakBuffers: number }>('floods/children/memory.ts', { args })
  expect(peakBuffers).toBeLessThanOrEqual(1.1 * 64 * KIB)
})
