import { expect, test } from '@jest/globals'
import { prometheusText } from '@sluice/fleet/metrics'
import { createInsight } from '@sluice/insight'
import { createLimiter } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { exposedSeries } from './exposed-series.ts'

const clock = new FakeClock({ nowMs: 1_000 })

test('a million keys and a hundred thousand invalid paths result in 200 routes plus "other", and no keys', () => {
  const insight = createInsight()
  const limiter = createLimiter({ policies: [{ name: 'api', limit: 40, window: '1h' }], clock })
  const decision = limiter.take('acme')
  for (let key = 0; key < 1_000_000; key++) {
    const route = key < 100_000 ? `/made/up/${key}` : '/orders/:id'
    insight.decided(`key-${key}`, decision, { route, method: 'GET', request: undefined })
  }
  const text = prometheusText(insight)
  const decisions = exposedSeries(text).filter(({ name }) => name === 'sluice_decisions_total')
  expect(decisions.length).toBe(3 * 201)
  expect(decisions.reduce((sum, { value }) => sum + value, 0)).toBe(1_000_000)
  expect(new Set(decisions.map(({ labels }) => labels.route)).has('other')).toBe(true)
  expect(text).not.toContain('key-')
  limiter.close()
})

test('names of policies, caps, backends and cap routes are bounded as well', () => {
  const insight = createInsight()
  const limiter = createLimiter({ policies: [{ name: 'api', limit: 40, window: '1h' }], clock })
  const { verdicts, ...decision } = limiter.take('acme')
  for (let index = 0; index < 2_000; index++) {
    const policy = { ...verdicts[0].policy, name: `policy-${index}` }
    const verdict = { ...verdicts[0], policy, allowed: true, shadow: false, remaining: 9 }
    insight.decided('acme', {
      ...decision,
      verdicts: [verdict],
      binding: verdict,
      counted: false,
      source: `from ${index}`,
    } as never)
    const asked = { route: `/path/${index}`, method: 'GET', request: undefined }
    insight.capDenied('acme', { name: `cap-${index}`, limit: 1, request: asked })
    insight.capDenied('acme', { name: 'cap-0', limit: 1, request: asked })
    insight.permitAcquired('acme', { name: `cap-${index}`, limit: 1 })
    insight.backendAnswered(`backend-${index}`, 1)
    insight.event('backendFailed', { backend: `backend-${index}`, cause: `cause ${index} of many` })
    insight.event('breaker', { backend: `backend-${index}`, state: 'open' })
    insight.event('keyFallback', { reason: `reason-${index}` })
    insight.event('lateCharge', { policy: `policy-${index}`, units: 1 })
    insight.event('sync', { topic: `topic-${index}`, failed: 'LATE' })
    insight.event('slowed', { policy: `policy-${index}`, outcome: 'waits', delayMs: 1 })
  }
  const counts = new Map<string, number>()
  for (const { name } of exposedSeries(prometheusText(insight))) counts.set(name, (counts.get(name) ?? 0) + 1)
  expect(Math.max(...counts.values())).toBeLessThanOrEqual(101 * 15)
  expect(counts.get('sluice_decisions_total')).toBe(3 * 101)
  limiter.close()
})
