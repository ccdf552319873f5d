import { describe, expect, test } from '@jest/globals'
import { type CounterBatch, type CounterTable, createCounters } from '@sluice/counters'
import { redisCounters } from '@sluice/counters/redis'
import type { Clock, MetricSource } from '@sluice/limiter-core'
import { systemClock } from '@sluice/limiter-core/backend'
import { FakeClock } from '@sluice/testkit'
import { eventually } from '../../services/eventually.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'
import { HeldLedger } from '../fuzz/intercepted-ledger.ts'

/** A ledger that modifies deltas, to simulate a bug. */
class ChangingLedger extends HeldLedger {
  constructor(clock: Clock) {
    super(clock, {})
  }

  override open(name: string): CounterTable {
    const table = super.open(name)
    const changed = (batch: CounterBatch): CounterBatch => {
      for (const delta of batch.deltas) Object.assign(delta, { amount: delta.amount + 1 })
      return batch
    }
    return { ...table, apply: (batch) => table.apply(changed(batch)) }
  }
}

/** Returns the values by name and labels of their series, without the counters label. */
function valuesOf(source: MetricSource): Readonly<Record<string, number>> {
  const samples = [...source.metrics()].flatMap((metric) =>
    metric.type === 'histogram' ? [] : metric.samples.map((sample) => ({ name: metric.name, ...sample })),
  )
  const values = samples.map(({ name, labels: { counters: _, ...labels }, value }) => {
    return [[name.replace('sluice_counters_', ''), ...Object.values(labels)].join(' '), value]
  })
  return Object.fromEntries(values)
}

describe('the metrics of counters in a process', () => {
  test('report pending units, their age, and the units that the ledger accepted', async () => {
    const clock = new FakeClock()
    let isAway = true
    const ledger = new HeldLedger(clock, {
      before: (call) => {
        if (isAway && call === 'apply') throw new Error('away')
      },
    })
    const counters = createCounters({ ledger, clock })
    await counters.increment('a', 2 ** 53 - 1)
    clock.advance(700)
    await counters.increment('b', -7)
    await counters.read('a')
    expect(valuesOf(counters)).toMatchObject({
      entries: 2,
      'cache_reads_total hit': 1,
      'cache_reads_total miss': 2,
      'owed_ids process': 2,
      'flush_lag_ms process': 700,
      'audit_difference process': 0,
    })
    await expect(counters.flush()).rejects.toThrow('away')
    clock.advance(5_000)
    await eventually(async () => valuesOf(counters)['batches_total SLUICE_COUNTERS_UNAVAILABLE'] >= 2, {
      what: 'failures',
    })
    await counters.increment('a', -3)
    expect(valuesOf(counters)).toMatchObject({ 'owed_ids process': 2, 'flush_lag_ms process': 5_700 })
    expect(valuesOf(counters)).toMatchObject({ 'audit_difference process': 0 })
    isAway = false
    await eventually(
      async () =>
        counters.flush().then(
          () => true,
          () => false,
        ),
      { what: 'the flush' },
    )
    await counters.increment('c', 5)
    await counters.reset('c')
    await counters.increment('a', 1, { token: 't' })
    await counters.increment('a', 1, { token: 't' })
    expect(valuesOf(counters)).toMatchObject({
      'owed_ids process': 0,
      'flush_lag_ms process': 0,
      'audit_difference process': 0,
      duplicates_total: 1,
    })
    const convergence = [...counters.metrics()].find(({ name }) => name === 'sluice_counters_convergence_ms')
    expect(convergence?.type === 'histogram' && convergence.samples[0].sum).toBeGreaterThanOrEqual(5_700)
    await counters.close()
  })

  test('detect a unit in a batch that no caller counted', async () => {
    const clock = new FakeClock()
    const ledger = new ChangingLedger(clock)
    const counters = createCounters({ ledger, clock })
    await counters.increment('a', 10)
    await counters.flush()
    expect(valuesOf(counters)['audit_difference process']).toBe(-1)
  })
})

describe('the metrics of counters in Redis', () => {
  const redis = redisForTests()

  test('report what all processes owe the ledger, if at least one process reads it', async () => {
    let isAway = false
    const ledger = new HeldLedger(systemClock, {
      before: (call) => {
        if (isAway && call === 'apply') throw new Error('away')
      },
    })
    const client = redis.server.client()
    const [one, other] = [1, 2].map(() => redisCounters(client, { name: 'owing', ledger, flushMs: 50, partitions: 2 }))
    const deltas = Array.from({ length: 10 }, (_, index) => `id:${index}`)
    for (const id of deltas) await one.increment(id, 4)
    await one.flush()
    isAway = true
    for (const id of deltas) await other.increment(id, 3)
    valuesOf(one)
    await eventually(async () => valuesOf(one)['owed_ids redis'] === 10, {
      what: 'all ids to be owed',
      timeoutMs: 20_000,
    })
    expect(valuesOf(one)['flush_lag_ms redis']).toBeGreaterThan(0)
    expect(valuesOf(one)['audit_difference redis']).toBe(0)
    // units that no batch will contain
    const [key] = (await client.keys('*owing*')).filter((name) => name.endsWith('owed'))
    await client.hincrby(key, (await client.hkeys(key))[0], 5)
    await eventually(async () => valuesOf(one)['audit_difference redis'] === 5, {
      what: 'the audit',
      timeoutMs: 20_000,
    })
    isAway = false
    await one.close()
    await other.close()
    client.disconnect()
  })
})
