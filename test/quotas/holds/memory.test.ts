import { describe, expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { FakeClock } from '@sluice/testkit'
import { holdSuite } from './hold-suite.ts'

describe('holds of quotas in memory', () => {
  holdSuite({ describe, expect, test }, async () => ({ ledger: new MemoryLedger(new FakeClock()), scope: 'tests' }))
})
