import { expect, test } from '@jest/globals'
import { prometheusText } from '@sluice/fleet/metrics'
import { gossipChannel } from '@sluice/gossip'
import type { MetricSource } from '@sluice/limiter-core'
import { baseSeed, seededRandom } from '@sluice/testkit'
import { exposedSeries } from '../insight/metrics/exposed-series.ts'
import { CountingFleet } from './agreement/counting-fleet.ts'

function seriesOf(
  source: MetricSource,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const found = exposedSeries(prometheusText(source)).find((series) => {
    return (
      series.name === `sluice_gossip_${name}` && Object.entries(labels).every(([key, at]) => series.labels[key] === at)
    )
  })
  return found?.value
}

test('metrics cover exchanges, live replicas and memory, and replica names are not labels', async () => {
  const fleet = new CountingFleet(seededRandom(baseSeed()), {}, 1_000)
  for (let n = 0; n < 4; n++) fleet.start()
  const [one, two] = fleet.replicas
  const [channel, other] = [gossipChannel(one.node), gossipChannel(two.node)]
  for (const { counters } of fleet.replicas)
    await counters.incrementMany([
      ['a', 1],
      ['b', 1],
    ])
  channel.publish('news', new Uint8Array(100))
  await fleet.net.run(3_000, 100)
  expect(seriesOf(one.counters, 'counter_replicas', { state: 'live' })).toBe(4)
  expect([seriesOf(one.counters, 'counter_ids'), seriesOf(one.counters, 'counter_entries')]).toEqual([2, 8])
  expect(seriesOf(channel, 'channel_messages_total', { direction: 'published' })).toBe(1)
  expect(seriesOf(channel, 'channel_retained_bytes')).toBe(100)
  expect(seriesOf(other, 'channel_messages_total', { direction: 'received' })).toBe(1)
  expect(seriesOf(one.node, 'exchange_age_ms', { result: 'ok' })).toBeLessThanOrEqual(100)
  const [sent, received] = ['sent', 'received'].map((direction) => {
    return fleet.replicas.reduce((sum, { node }) => sum + (seriesOf(node, 'bytes_total', { direction }) ?? 0), 0)
  })
  expect([sent, received]).toEqual([fleet.net.bytes, fleet.net.bytes])

  fleet.kill(two)
  await fleet.net.until(() => seriesOf(one.counters, 'counter_replicas', { state: 'dead' }) === 1, 2_000)
  expect(seriesOf(one.counters, 'counter_replicas', { state: 'live' })).toBe(3)
  await fleet.net.run(3_000, 100)
  expect(seriesOf(one.counters, 'counter_replicas', { state: 'dead' })).toBe(0)
  expect(seriesOf(one.counters, 'counter_replicas', { state: 'folded' })).toBe(1)
  expect(seriesOf(one.counters, 'counter_entries')).toBe(6)

  // alone: exchanges fail, and the time since the last successful exchange grows
  fleet.net.part((index) => fleet.net.nodes[index] === one.node)
  await fleet.net.run(5_000, 100)
  expect(seriesOf(one.node, 'exchange_age_ms', { result: 'ok' })).toBeGreaterThan(4_000)
  expect(seriesOf(one.node, 'exchange_age_ms', { result: 'SLUICE_GOSSIP_UNAVAILABLE' })).toBeLessThanOrEqual(1_000)
  const text = prometheusText(one.node, one.counters, channel)
  for (const { node } of fleet.replicas) expect(text).not.toContain(node.replica)
  await fleet.net.stop()
})
