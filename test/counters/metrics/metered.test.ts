import { describe, expect, test } from '@jest/globals'
import { createCounters, MemoryLedger, meteredCounters } from '@sluice/counters'
import { prometheusText } from '@sluice/fleet/metrics'
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

  test('count calls by operation and result, without ids as labels', async () => {
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

  test('list hot ids as long as they are hot', async () => {
    const clock = new FakeClock()
    const counters = meteredCounters(createCounters({ clock }), { hotPerSecond: 20, clock })
    for (let second = 0; second < 2; second++) {
      clock.advance(1_000)
      for (let n = 0; n < 30; n++) await counters.increment('hot')
      for (let n = 0; n < 19; n++) await counters.incrementMany({ warm: 1, [`cold:${n}`]: 1 })
      await expect(counters.increment('bad', Number.NaN)).rejects.toMatchObject({ code: 'SLUICE_BAD_DELTA' })
    }
    expect(counters.hotIds()).toEqual([{ id: 'hot', perSecond: 30 }])
    expect(prometheusText(counters)).toContain('sluice_counters_hot_ids{counters="default"} 1')
    clock.advance(1_000)
    expect(counters.hotIds()).toEqual([{ id: 'hot', perSecond: 30 }])
    clock.advance(1_000)
    expect(counters.hotIds()).toEqual([])
  })

  test.each([0, 0.5, 1_000_001, '10'])('reject hotPerSecond: %p', (hotPerSecond) => {
    expect(() => meteredCounters(createCounters(), { hotPerSecond: hotPerSecond as number })).toThrow(
      expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }),
    )
  })

  test('include the metrics of the wrapped counters', async () => {
    const counters = meteredCounters(createCounters({ name: 'api' }), { name: 'api' })
    await counters.increment('page')
    expect(prometheusText(counters)).toMatch(/^sluice_counters_entries{counters="api"} 1$/m)
  })
})
