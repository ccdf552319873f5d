import { expect, test } from '@jest/globals'
import { prometheusText } from '@sluice/fleet/metrics'
import { createInsight } from '@sluice/insight'
import { createInflightLimiter } from '@sluice/limiter-core'
import { adaptive, prioritizedInflight } from '@sluice/overload'
import { FakeClock } from '@sluice/testkit'
import { exposedSeries, seriesValue } from './exposed-series.ts'

test('permits are counted by priority, denials by priority and reason, and requests that wait', async () => {
  const [clock, insight] = [new FakeClock(), createInsight()]
  const backend = prioritizedInflight({ queue: { max: 2, maxWaitMs: 100 }, clock })
  const cap = createInflightLimiter({ name: 'shop', limit: 1, backend, clock, observers: [insight] })
  const held = await cap.acquire('', { priority: 'high' })
  const waiting = (['critical', 'low', 'normal'] as const).map((priority) => cap.acquire('', { priority }))
  const text = prometheusText(insight)
  const value = (name: string, labels = {}) => seriesValue(text, `sluice_inflight_${name}`, { cap: 'shop', ...labels })
  expect([value('limit'), value('held'), value('waiting')]).toEqual([1, 1, 2])
  expect(value('permits_total', { priority: 'high' })).toBe(1)
  await waiting[1]
  clock.advance(100)
  expect(await Promise.all(waiting)).toEqual([undefined, undefined, undefined])
  held?.release()
  const after = prometheusText(insight)
  const denied = exposedSeries(after).filter(({ name }) => name === 'sluice_inflight_denied_by_priority_total')
  expect(denied.map(({ labels, value }) => [labels.priority, labels.reason, value]).sort()).toEqual([
    ['critical', 'timeout', 1],
    ['low', 'queue-full', 1],
    ['normal', 'timeout', 1],
  ])
  expect(seriesValue(after, 'sluice_inflight_denied_total', { cap: 'shop' })).toBe(3)
  expect(seriesValue(after, 'sluice_inflight_waiting', { cap: 'shop' })).toBe(0)
  await insight.close()
})

test('clients that leave while their requests wait are counted apart from denials', async () => {
  const [clock, insight, left] = [new FakeClock(), createInsight(), new AbortController()]
  const backend = prioritizedInflight({ queue: { max: 2, maxWaitMs: 100 }, clock })
  const cap = createInflightLimiter({ name: 'shop', limit: 1, backend, clock, observers: [insight] })
  const held = await cap.acquire()
  const waiting = cap.acquire('', { priority: 'low', signal: left.signal })
  left.abort()
  expect(await waiting).toBeUndefined()
  const text = prometheusText(insight)
  expect(seriesValue(text, 'sluice_inflight_left_total', { cap: 'shop', priority: 'low' })).toBe(1)
  expect(seriesValue(text, 'sluice_inflight_denied_total', { cap: 'shop' })).toBe(0)
  expect(text).not.toMatch('sluice_inflight_denied_by_priority_total{')
  held?.release()
  await insight.close()
})

test('the limit of an adaptive cap is known before its first request, and follows the service', async () => {
  const [clock, insight] = [new FakeClock(), createInsight()]
  const limit = adaptive({ min: 1, max: 100, initial: 8, algorithm: 'aimd', timeout: 50 })
  const cap = createInflightLimiter({ name: 'shop', limit, clock, observers: [insight] })
  const shown = () => seriesValue(prometheusText(insight), 'sluice_inflight_limit', { cap: 'shop' })
  expect(shown()).toBe(8)
  for (let request = 0; request < 100; request++) {
    const permit = cap.acquire()
    clock.advance(100)
    permit?.release()
  }
  expect(cap.limit).toBeLessThan(8)
  cap.acquire()?.release()
  expect(shown()).toBe(cap.limit)
  await insight.close()
})

test('priorities and reasons that do not exist create no series', async () => {
  const insight = createInsight()
  const cap = { name: 'shop', limit: 1 }
  for (let index = 0; index < 100; index++) {
    insight.permitAcquired('', { ...cap, priority: `p${index}` as never })
    insight.capDenied('', { ...cap, priority: `p${index}` as never, reason: `<b>${index}` as never })
  }
  const text = prometheusText(insight)
  expect(seriesValue(text, 'sluice_inflight_permits_total', { priority: 'normal' })).toBe(100)
  expect(seriesValue(text, 'sluice_inflight_denied_by_priority_total', { priority: 'normal', reason: 'full' })).toBe(
    100,
  )
  expect(text).not.toMatch(/p99|<b>/)
  await insight.close()
})
