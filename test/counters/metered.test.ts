import { describe, expect, test } from '@jest/globals'
import { createCounters, MemoryLedger, meteredCounters } from '@sluice/counters'
import { prometheusText } from '@sluice/limiter-core'
import { counterContract, FakeClock } from '@sluice/testkit'

describe('metered counters', () => {
  counterContract(
    { describe, test },
    (clock) => {
      const ledger = new MemoryLedger(clock)
      return { open: () => meteredCounters(createCounters({ ledger, clock })), close: () => {} }
    },
    { durable: false },
  )

  test('tell how often what was asked and how it went, and name no id', async () => {
    const counters = meteredCounters(createCounters(), { name: 'api', clock: new FakeClock() })
    await counters.increment('page')
    await counters.increment('page', 1, { token: 't' })
    await counters.increment('page', 1, { token: 't' })
    await expect(counters.increment('page', 0.5)).rejects.toMatchObject({ code: 'SLUICE_BAD_DELTA' })
    await counters.read('page')
    const lines = prometheusText(counters).split('\n')
    const calls = lines.filter((line) => line.startsWith('sluice_counters_calls_total'))
    expect(calls.sort()).toEqual([
      'sluice_counters_calls_total{counters="api",operation="increment",result="SLUICE_BAD_DELTA"} 1',
      'sluice_counters_calls_total{counters="api",operation="increment",result="duplicate"} 1',
      'sluice_counters_calls_total{counters="api",operation="increment",result="ok"} 2',
      'sluice_counters_calls_total{counters="api",operation="read",result="ok"} 1',
    ])
    expect(lines).toContain('sluice_counters_call_ms_count{counters="api",operation="increment"} 4')
    expect(lines.join()).not.toContain('page')
  })
})
