import { expect, test } from '@jest/globals'
import { childResult } from './child.ts'
import { everyAlgorithm, MIB } from './scene.ts'

interface Used {
  readonly peakBuffers: number
  readonly rss: number
  readonly worstStallMs: number
}

test.each(everyAlgorithm)(
  '%s keeps 5,000,000 keys of a flood within 64 MiB, without a stall of 10 ms',
  async (algorithm) => {
    const maxBytes = 64 * MIB
    const args = [String(maxBytes), '5000000', algorithm, '10', 'stalls']
    const used = await childResult<Used>('floods/children/memory.ts', { args, timeoutMs: 300_000 })
    console.log(algorithm, used)
    expect(used.peakBuffers).toBeLessThanOrEqual(1.1 * maxBytes)
    // two backends, one after the other, and V8's young generation, which decisions fill
    expect(used.rss).toBeLessThanOrEqual(2 * 1.1 * maxBytes + 16 * MIB)
    expect(used.worstStallMs).toBeLessThan(10)
  },
  300_000,
)
