import { expect, test } from '@jest/globals'
import { CounterMetric, HistogramMetric } from '@sluice/fleet/metrics'
import { createInsight } from '@sluice/insight'
import type { Metric } from '@sluice/limiter-core'
import { createLimiter } from '@sluice/limiter-core'

const values = (name: string, series: number): Metric => ({
  ...{ name, help: `What ${name} is.`, type: 'gauge' },
  samples: Array.from({ length: series }, (_, index) => ({ labels: { of: String(index) }, value: index })),
})

test('a snapshot contains the metrics of the sources of this process, or none without sources', async () => {
  const calls = new CounterMetric({ name: 'calls_total', help: 'Calls.', labels: ['result'] })
  const took = new HistogramMetric({ name: 'took_ms', help: 'How long they took.', buckets: [1, 10, 100] })
  const broken = {
    metrics(): Metric[] {
      throw new Error('away')
    },
  }
  const insight = createInsight({ sources: [broken, calls, took] })
  calls.add(3, 'right')
  for (const ms of [0.5, 5, 6, 7, 500]) took.observe(ms)
  expect(insight.snapshot().sources).toEqual([
    { name: 'calls_total', help: 'Calls.', type: 'counter', samples: [{ labels: { result: 'right' }, value: 3 }] },
    {
      ...{ name: 'took_ms', help: 'How long they took.', type: 'histogram' },
      samples: [{ labels: {}, count: 5, mean: 103.7, p50: 10, p99: null }],
    },
  ])
  await insight.close()
  const alone = createInsight()
  expect(alone.snapshot().sources).toEqual([])
  await alone.close()
})

test('sync metrics appear after the first sync event', async () => {
  const insight = createInsight()
  insight.event('sync', { topic: 'blocked', failed: true })
  const named = insight.snapshot().sources.map(({ name }) => name)
  expect(named).toEqual(['sluice_sync_failing', 'sluice_sync_events_total'])
  await insight.close()
})

test('at most 100 series are included, and 20 of each metric, whatever the sources return', async () => {
  const many = Array.from({ length: 50 }, (_, index) => values(`m${index}`, 7))
  const huge = { ...values('huge', 100_000), help: 'h'.repeat(1_000_000) }
  const odd = { ...values('odd', 0), samples: [{ labels: { of: 'x' }, value: Number.NaN }] } as Metric
  const insight = createInsight({ sources: [{ metrics: () => [odd, huge, ...many] }] })
  const { sources } = insight.snapshot()
  expect(sources.map(({ samples }) => samples.length)).toEqual([20, ...Array(11).fill(7), 3])
  expect(JSON.stringify(sources).length).toBeLessThan(10_000)
  await insight.close()
})

test('the metrics contain no keys', async () => {
  const insight = createInsight({ privacy: 'full' })
  const limiter = createLimiter({ policies: [{ name: 'api', limit: 1, window: '1m' }], observers: [insight] })
  for (let take = 0; take < 5; take++) await limiter.take('eve@example.com')
  expect(JSON.stringify(insight.snapshot().sources)).not.toContain('eve')
  limiter.close()
  await insight.close()
})
