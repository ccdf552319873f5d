import { expect, test } from '@jest/globals'
import { childResult } from '../../floods/child.ts'
import type { Hour } from '../../floods/hours.ts'
import { KIB } from '../../floods/scene.ts'

// a newcomer adopted what was remembered of others, spent a unit, and was remembered with the sum and a new end:
// all who made five requests were denied, a day after a flood of a second
test.concurrent.each(['token-bucket', 'gcra'] as const)(
  '%s: 18,000 keys that spend all deny nobody from the second hour on',
  async (algorithm) => {
    const args = [algorithm, 512 * KIB, 1, 10, 24].map(String)
    const hours = await childResult<Hour[]>('floods/children/hours.ts', { args, timeoutMs: 60_000 })
    const denied = hours.map((hour) => hour.denied)
    expect(denied[0]).toBe(0)
    expect(denied[1]).toBeGreaterThan(0)
    expect(Math.max(...denied.slice(2))).toBe(0)
  },
  60_000,
)

// a client who spent half on top of a half that was remembered of others was remembered with both
test.concurrent.each(['sliding-window', 'sliding-log'] as const)(
  '%s: clients who spend half, many more than memory holds, do not deny one another',
  async (algorithm) => {
    const args = [algorithm, 64 * KIB, 0, 5, 12, 5].map(String)
    const hours = await childResult<Hour[]>('floods/children/hours.ts', { args, timeoutMs: 60_000 })
    expect(hours.at(-1)?.spilled).toBeGreaterThan(0)
    expect(Math.max(...hours.map(({ denied }) => denied))).toBeLessThan(0.01)
  },
  60_000,
)
