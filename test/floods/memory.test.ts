import { expect, test } from '@jest/globals'
import { childResult } from './child.ts'
import { everyAlgorithm, MIB } from './scene.ts'

interface Used {
  readonly peakBuffers: number
  readonly heap: number
}

test.concurrent.each(everyAlgorithm)('%s keeps 500,000 keys of a flood within its budget', async (algorithm) => {
  const maxBytes = 4 * MIB
  const args = [String(maxBytes), '500000', algorithm]
  const { peakBuffers, heap } = await childResult<Used>('floods/children/memory.ts', { args, timeoutMs: 60_000 })
  expect(peakBuffers).toBeLessThanOrEqual(1.1 * maxBytes)
  expect(peakBuffers + heap).toBeLessThanOrEqual(1.1 * maxBytes + MIB)
})
