import { describe, expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { FakeClock } from '@sluice/testkit'
import { zoneSuite } from './zone-suite.ts'

describe('zones of keys in memory', () => {
  zoneSuite({ describe, expect, test }, async () => ({ ledger: new MemoryLedger(new FakeClock()), scope: 'tests' }))
})
