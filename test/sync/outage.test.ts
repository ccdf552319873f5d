import { describe, expect, test } from '@jest/globals'
import { eachSeed } from '@sluice/testkit'
import { admittedOf } from './admitted.ts'

const WINDOW_MS = 10_000
/** Requests during the 250 ms until an exchange without an answer times out. */
const UNNOTICED = 0.1

describe('a fleet of 4 at four times its limit that loses its ledger for 12 s', () => {
  test.each([
    // in each policy units become available in a pattern that lets the processes admit most
    ['sliding-window', { algorithm: 'sliding-window', slices: 10 }, 11_100],
    ['fixed-window', { algorithm: 'fixed-window' }, 10_000],
  ] as const)(
    'with %s admits at most a tenth more in any window than without an outage',
    async (_name, policy, from) => {
      await eachSeed(2, async (random) => {
        const load = { nodes: 4, limit: 1_000, windowMs: WINDOW_MS, demand: 4, windows: 4, random, policy }
        const withLedger = await admittedOf(load)
        const without = await admittedOf({ ...load, cut: { from, to: from + 12_000 } })
        expect(without.most).toBeLessThanOrEqual(withLedger.most + UNNOTICED)
      })
    },
  )
})
