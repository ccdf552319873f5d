import { describe, test } from '@jest/globals'
import { createCounters, MemoryLedger } from '@sluice/counters'
import { counterContract } from '@sluice/testkit'

describe('counters in memory', () => {
  counterContract(
    { describe, test },
    (clock) => {
      const ledger = new MemoryLedger(clock)
      return { open: () => createCounters({ ledger, clock }), close: () => ledger.close() }
    },
    { durable: false },
  )
})
