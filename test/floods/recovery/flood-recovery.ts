import { expect } from '@jest/globals'
import type { AlgorithmName } from '@sluice/limiter-core'
import { childResult } from '../child.ts'
import { type Hour, tailCells } from '../hours.ts'

/** Windows after its last take until a key is fully reset. */
const WINDOWS: Readonly<Record<AlgorithmName, number>> = {
  'fixed-window': 1,
  'sliding-window': 2,
  'sliding-log': 1,
  'token-bucket': 1,
  gcra: 1,
}

/**
 * A flood at the start of a day. In each hour, new clients are wrongly denied only with the probability given by the
 * unexpired keys in the tail; once the keys of the flood have expired, no client is denied.
 */
export async function expectBound(algorithm: AlgorithmName, maxBytes: number, cost: number): Promise<void> {
  const args = [algorithm, maxBytes, 0, cost, 24].map(String)
  const day = await childResult<Hour[]>('floods/children/hours.ts', { args, timeoutMs: 1_200_000 })
  // the hour in which a key was written, and the hours in which it may still exist
  const lasts = WINDOWS[algorithm] + 1
  day.forEach(({ clouded }, hour) => {
    const live = day.slice(Math.max(0, hour + 1 - lasts), hour + 1).reduce((sum, { spilled }) => sum + spilled, 0)
    const bound = (1 - Math.exp(-live / tailCells(maxBytes))) ** 4
    expect({ hour, live, clouded, above: clouded > 1.25 * bound + 0.01 }).toMatchObject({ above: false })
  })
  expect(Math.max(...day.slice(lasts).map(({ denied }) => denied))).toBe(0)
}
