import { describe, expect, test } from '@jest/globals'
import { childResult } from '../floods/child.ts'
import type { ClusterResult } from './children/primary.ts'

function run(scenario: 'burst' | 'kill'): Promise<ClusterResult> {
  return childResult<ClusterResult>('cluster/children/primary.ts', { args: [scenario], timeoutMs: 50_000 })
}

describe('four workers of node:cluster', () => {
  test('admit at most 1,000 of 4 x 5,000 concurrent requests, and nearly 1,000, though they start before the primary listens', async () => {
    const { total, left, listeners } = await run('burst')
    process.stdout.write(`cluster: 4 x 5,000 at once, limit 1,000: ${total} admitted\n`)
    expect(total).toBeLessThanOrEqual(1_000)
    expect(total).toBeGreaterThan(950)
    // each worker exited on its own after its channel closed: no listener of ours kept it alive
    expect(left).toEqual([0, 0, 0, 0])
    expect(listeners).toBe(0)
  })

  test('admit no more than the limit in any window while one of them is killed', async () => {
    const { total, worst } = await run('kill')
    process.stdout.write(`cluster: stream with a kill -9: ${total} admitted, ${worst} of 500 in the worst window\n`)
    expect(worst).toBeLessThanOrEqual(500)
    expect(worst).toBeGreaterThan(400)
  })
})
