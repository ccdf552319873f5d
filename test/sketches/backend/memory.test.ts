import { expect, test } from '@jest/globals'
import { childResult } from '../../floods/child.ts'

interface Taken {
  readonly bytes: number
  readonly atOnce: number
  readonly flooded: number
}

test('all buffers together stay within the configured bytes at all times, for any traffic', async () => {
  const taken = await childResult<Taken[]>('sketches/backend/children/memory.ts', { timeoutMs: 60_000 })
  expect(taken).toHaveLength(14)
  for (const { bytes, atOnce, flooded } of taken) {
    expect(atOnce).toBeLessThanOrEqual(bytes)
    expect(flooded).toBeLessThanOrEqual(bytes)
    // and use most of the bytes: a history takes powers of two
    expect(atOnce).toBeGreaterThan(bytes / 3)
  }
})
