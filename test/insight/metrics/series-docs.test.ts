import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { counterService, createCounters, meteredCounters } from '@sluice/counters'
import { createGossip, gossipBackend, gossipChannel, gossipCounters } from '@sluice/gossip'
import { createInsight } from '@sluice/insight'
import { limitOverrides, type Metric } from '@sluice/limiter-core'
import { createQuotas } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'
import { root } from '../../repository.ts'
import { BusyProcess, syncedBackend } from './busy-process.ts'
import { exposedSeries } from './exposed-series.ts'

const page = readFileSync(join(root, 'docs/metrics.md'), 'utf8')
/** Parses the rows of all series tables: `| `name{labels}` | type | … |`. */
const rows = [...page.matchAll(/^\| `(sluice_\w+)(?:\{([\w,]+)\})?` \| (counter|gauge|histogram) \|/gm)].map(
  ([, name, labels = '', type]) => ({ name, labels: labels.split(',').filter(Boolean), type }),
)

/** Creates every source of metrics in this repository, unused. */
function allMetrics(): readonly Metric[] {
  const clock = new FakeClock({ nowMs: 1_000 })
  const synced = syncedBackend(clock)
  const node = createGossip({ peers: [], clock })
  const gossip = gossipBackend(node)
  const channel = gossipChannel(node)
  const replicated = gossipCounters(node)
  const counters = meteredCounters(createCounters({ name: 'usage', clock }), { name: 'usage' })
  const service = counterService({ counters, open: true })
  const quotas = createQuotas({ openQuotas: () => ({}) } as unknown as Parameters<typeof createQuotas>[0], { clock })
  const overrides = limitOverrides({ load: () => ({}), clock })
  const sources = [createInsight(), synced, node, gossip, channel, replicated, counters, service, quotas, overrides]
  const metrics = sources.flatMap((source) => [...source.metrics()])
  void Promise.all([synced.close(), gossip.close?.(), node.close(), counters.close(), quotas.close()]).catch(() => {})
  return metrics
}

let busy: BusyProcess
beforeAll(async () => {
  busy = await BusyProcess.start()
})
afterAll(() => busy.close())

test('docs/metrics.md lists exactly the existing series, with their types', () => {
  const real = new Map(allMetrics().map(({ name, type }) => [name, type]))
  const listed = new Map(rows.map(({ name, type }) => [name, type]))
  expect(listed.size).toBe(rows.length)
  expect(Object.fromEntries([...listed].sort())).toEqual(Object.fromEntries([...real].sort()))
})

test('docs/metrics.md lists exactly the labels of the series of a process', async () => {
  for (const series of exposedSeries(await busy.metrics())) {
    const row = rows.find(({ name }) => [name, `${name}_bucket`, `${name}_sum`, `${name}_count`].includes(series.name))
    const labels = Object.keys(series.labels).filter((label) => label !== 'le')
    expect({ name: series.name, labels: labels.sort() }).toEqual({ name: series.name, labels: row?.labels.sort() })
  }
})

test('docs/metrics.md lists the buckets of the histograms of an insight', async () => {
  const text = await busy.metrics()
  for (const name of ['backend_answer_ms', 'inflight_hold_ms', 'slow_down_delay_ms'].map((own) => `sluice_${own}`)) {
    const buckets = exposedSeries(text).filter((series) => series.name === `${name}_bucket`)
    const bounds = new Set(buckets.map(({ labels }) => labels.le))
    expect(bounds.size).toBeGreaterThan(5)
    const stated = new RegExp(`^\\| \`${name}\\{.*\`([^\`]*) \\+Inf\``, 'm').exec(page)?.[1]
    expect(`${stated} +Inf`).toBe([...bounds].join(' '))
  }
})
