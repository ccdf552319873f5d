import { describe, expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { FakeClock } from '@sluice/testkit'
import { quotaSuite } from './quota-suite.ts'

describe('quotas in memory', () => {
  quotaSuite({ describe, expect, test }, async () => ({ ledger: new MemoryLedger(new FakeClock()), scope: 'tests' }))
})
