import { describe, expect, test } from '@jest/globals'
import { eachSeed } from '@sluice/testkit'
import { admittedOf } from './admitted.ts'

const WINDOW_MS = 10_000
/** What comes in the 250 ms until an exchange without an answer has failed. */
const UNNOTICED = 0.1

describe('a fleet of 4 at four times its limit that loses its ledger for 12 s', () => {
  test.each([
    // each when units come free, so that its processes give most
    ['sliding-window', { algorithm: 'sliding-window', slices: 10 }, 11_100],
    ['fixed-window', { algorithm: 'fixed-window' }, 10_000],
  ] as const)('admits by %s a tenth more in any window than with it at most', async (_name, policy, from) => {
    await eachSeed(2, async (random) => {
      const load = { nodes: 4, limit: 1_000, windowMs: WINDOW_MS, demand: 4, windows: 4, random, policy }
      const withLedger = await admittedOf(load)
      const without = await admittedOf({ ...load, cut: { from, to: from + 12_000 } })
      expect(without.most).toBeLessThanOrEqual(withLedger.most + UNNOTICED)
    })
  })
})
