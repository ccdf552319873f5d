import { describe, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { runClaim, sketchClaims } from './sketch-claims.ts'

describe('sketches in memory', () => {
  test.each(Object.keys(sketchClaims))('%s', (claim) =>
    runClaim(claim, (clock) => new MemoryLedger(clock), { name: 'memory', durable: false }),
  )
})
