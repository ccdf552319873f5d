import { expect, test } from '@jest/globals'
import { prometheusText } from '@sluice/fleet/metrics'
import { RequestMetrics } from '../../../packages/insight/src/metrics/request-metrics.ts'

const REFUSAL = { policy: 'shed', priority: 'low', pressure: 0.4, probability: 0.5, signal: 'rss', shadow: false }

test('refusals are counted by priority and signal, and the pressure ends with them', () => {
  let now = 0
  const metrics = new RequestMetrics(() => now)
  const rows = (): string[] => text(metrics).filter((line) => line.startsWith('sluice_shed'))
  metrics.event('shed', REFUSAL)
  metrics.event('shed', { ...REFUSAL, shadow: true })
  metrics.event('shed', { ...REFUSAL, priority: 'normal', pressure: 0.6 })
  metrics.event('slowed', { policy: 'slow', outcome: 'waits', delayMs: 1 })
  expect(rows()).toEqual([
    'sluice_shed_total{outcome="denied",policy="shed",priority="low",signal="rss"} 1',
    'sluice_shed_total{outcome="shadow",policy="shed",priority="low",signal="rss"} 1',
    'sluice_shed_total{outcome="denied",policy="shed",priority="normal",signal="rss"} 1',
    'sluice_shed_pressure{policy="shed"} 0.6',
  ])
  now = 9_999
  expect(rows().at(-1)).toBe('sluice_shed_pressure{policy="shed"} 0.6')
  now = 10_000
  expect(rows().at(-1)).toBe('sluice_shed_pressure{policy="shed"} 0')
})

function text(metrics: RequestMetrics): string[] {
  return prometheusText(metrics).trim().split('\n')
}
