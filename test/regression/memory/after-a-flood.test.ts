import { expect, test } from '@jest/globals'
import { childResult } from '../../floods/child.ts'
import type { Hour } from '../../floods/hours.ts'
import { KIB } from '../../floods/scene.ts'

// regression: a new key adopted the remembered usage of others, spent a unit, and was remembered with the sum and a
// later end: a day after a one-second flood all clients with five requests were denied
test.concurrent.each(['token-bucket', 'gcra'] as const)(
  '%s: 18,000 exhausted keys cause no denials from the second hour on',
  async (algorithm) => {
    const args = [algorithm, 512 * KIB, 1, 10, 24].map(String)
    const hours = await childResult<Hour[]>('floods/children/hours.ts', { args, timeoutMs: 60_000 })
    const denied = hours.map((hour) => hour.denied)
    expect(denied[0]).toBe(0)
    expect(denied[1]).toBeGreaterThan(0)
    expect(Math.max(...denied.slice(2))).toBe(0)
  },
)

// regression: a client that spent half on top of a remembered half of others was remembered with both
test.concurrent.each(['sliding-window', 'sliding-log'] as const)(
  '%s: clients that use half of their limit, many more than memory holds, do not cause denials of each other',
  async (algorithm) => {
    const args = [algorithm, 64 * KIB, 0, 5, 12, 5].map(String)
    const hours = await childResult<Hour[]>('floods/children/hours.ts', { args, timeoutMs: 60_000 })
    expect(hours.at(-1)?.spilled).toBeGreaterThan(0)
    expect(Math.max(...hours.map(({ denied }) => denied))).toBeLessThan(0.01)
  },
)
