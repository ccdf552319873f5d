import { expect, test } from '@jest/globals'
import { prometheusText } from '@sluice/fleet/metrics'
import { createGossip, type GossipNode, gossipBackend, gossipChannel, gossipCounters } from '@sluice/gossip'
import { FakeClock } from '@sluice/testkit'
import { counterLog, HostileSender, sampleOf } from '../../gossip/hostile-sender.ts'

const ID = 'A'.repeat(22)

function replica(): { node: GossipNode; clock: FakeClock; received: string[]; texts: () => string } {
  const clock = new FakeClock()
  const node = createGossip({ peers: [], clock })
  const received: string[] = []
  gossipChannel(node).subscribe('news', (message) => received.push(Buffer.from(message).toString()))
  const backend = gossipBackend(node)
  const counters = gossipCounters(node, { deadAfterMs: '1s' })
  return { node, clock, received, texts: () => prometheusText(node, backend, counters) }
}

const message = (at: number): [string, unknown] => [
  `message:${at}`,
  ['news', Buffer.from(String(at)).toString('base64'), 0, 1],
]

test('items of limits and messages in a log of counters are ignored', () => {
  const { node, clock, received, texts } = replica()
  const sender = new HostileSender()
  sender.pushLog(node, counterLog(1), [message(1), [`limit:${ID}`, [60_000, -1, [0, 1, 0]]], ['limit:time', 0]])
  expect(received).toEqual([])
  expect(sampleOf(texts(), 'sluice_gossip_limit_keys{of="others"}')).toBe(0)
  expect(sampleOf(texts(), 'sluice_gossip_ignored_total{reason="other-kind"}')).toBe(3)
  sender.pushLog(node, 'replica', [message(1), [`limit:${ID}`, [60_000, -1, [0, 1, 0]]], ['limit:time', 0]])
  expect(received).toEqual(['1'])
  expect(sampleOf(texts(), 'sluice_gossip_limit_keys{of="others"}')).toBe(1)
  clock.advance(3_700_000)
  expect(sender.ask(node).clocks.map(([name]) => name)).not.toContain(counterLog(1))
})

test('items of counters in a log of another kind are ignored', async () => {
  const { node, clock, texts } = replica()
  const sender = new HostileSender()
  sender.pushLog(node, 'replica', [
    ['counters:id:a', [0, 5, 0]],
    ['counters:member', ['replica', 0, 0, 0, []]],
    [`counters:folded:${counterLog(1)}`, 1],
  ])
  expect(sampleOf(texts(), 'sluice_gossip_counter_ids')).toBe(0)
  expect(sampleOf(texts(), 'sluice_gossip_counter_replicas{state="live"}')).toBe(1)
  expect(sampleOf(texts(), 'sluice_gossip_counter_replicas{state="folded"}')).toBe(0)
  clock.advance(3_700_000)
  expect(sender.ask(node).clocks.map(([name]) => name)).not.toContain('replica')
})

test('a huge age of an item does not make the messages of its receiver unreadable', async () => {
  const clock = new FakeClock()
  const node = createGossip({ peers: [], clock })
  gossipCounters(node, { deadAfterMs: '1h' })
  const status = ['replica', 0, 0, 0, []]
  new HostileSender().push(node, [[counterLog(1), 0, 1, [[1, Number.MAX_SAFE_INTEGER, 'counters:member', status]]]])
  clock.advance(5)
  const other = createGossip({
    peers: [{ name: node.replica, exchange: async (message) => node.answer(message) }],
    clock,
  })
  gossipCounters(other, { deadAfterMs: '1h' })
  expect(await other.exchangeWithOne()).toBe(true)
})

test('a mark that another log was taken over does not end the log of a node', async () => {
  const { node } = replica()
  const sender = new HostileSender()
  sender.pushLog(node, counterLog(1), [[`counters:folded:${node.replica}`, 1]])
  expect(sender.ask(node).clocks.map(([name]) => name)).toContain(node.replica)
})
