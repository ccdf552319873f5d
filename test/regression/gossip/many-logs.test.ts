import { expect, test } from '@jest/globals'
import { prometheusText } from '@sluice/fleet/metrics'
import { createGossip, type GossipNode, type GossipPeer, gossipChannel, gossipCounters } from '@sluice/gossip'
import { FakeClock } from '@sluice/testkit'
import { bytesOf, counterLog, HostileSender, sampleOf } from '../../gossip/hostile-sender.ts'

const MOST_LOGS = 3_000
const MOST_BYTES = 262_144

interface Recorded {
  readonly peer: GossipPeer
  readonly bytes: number[]
}

function recorded(node: GossipNode): Recorded {
  const bytes: number[] = []
  const exchange = async (message: Uint8Array): Promise<Uint8Array> => {
    const answer = node.answer(message)
    bytes.push(message.byteLength, answer.byteLength)
    return answer
  }
  return { peer: { name: node.replica, exchange }, bytes }
}

/** Pushes logs with new names, each with one item. */
function flood(
  node: GossipNode,
  { logs, nameOf, key, value = 1 }: { logs: number; nameOf: (n: number) => string; key: string; value?: unknown },
): void {
  const sender = new HostileSender()
  for (let from = 0; from < logs; from += 500) {
    const parts = Array.from({ length: 500 }, (_, at) => [
      nameOf(from + at),
      0,
      Number.MAX_SAFE_INTEGER,
      [[Number.MAX_SAFE_INTEGER, 0, key, value]],
    ])
    sender.push(node, parts)
  }
}

test('parts of logs with new names create at most 3,000 logs, and replicas still agree', async () => {
  const clock = new FakeClock()
  const node = createGossip({ peers: [], clock })
  const channel = gossipChannel(node)
  const { peer, bytes } = recorded(node)
  const other = createGossip({ peers: [peer], clock })
  const received: string[] = []
  gossipChannel(other).subscribe('news', (message) => received.push(Buffer.from(message).toString()))
  channel.publish('news', Buffer.from('a'))
  expect(await other.exchangeWithOne()).toBe(true)
  flood(node, { logs: 10_000, nameOf: (n) => String(n).padStart(32, 'x'), key: 'message:0' })
  const text = prometheusText(node)
  expect(sampleOf(text, 'sluice_gossip_replicas')).toBeLessThanOrEqual(MOST_LOGS + 1)
  expect(sampleOf(text, 'sluice_gossip_ignored_total{reason="too-many-logs"}')).toBeGreaterThanOrEqual(7_000)
  expect(await other.exchangeWithOne()).toBe(true)
  channel.publish('news', Buffer.from('b'))
  expect(await other.exchangeWithOne()).toBe(true)
  expect(received).toEqual(['a', 'b'])
  expect(Math.max(...bytes)).toBeGreaterThan(65_536)
  expect(Math.max(...bytes)).toBeLessThanOrEqual(MOST_BYTES)
  // after the logs have expired, there is room again
  clock.advance(62_000)
  flood(node, { logs: 500, nameOf: (n) => `later-${n}`, key: 'message:0' })
  expect(sampleOf(prometheusText(node), 'sluice_gossip_replicas')).toBe(500)
})

test('empty logs make room for new logs', async () => {
  const clock = new FakeClock()
  const node = createGossip({ peers: [], clock })
  gossipChannel(node, { retainMs: '1s' })
  for (let round = 0; round < 4; round++) {
    flood(node, { logs: 1_000, nameOf: (n) => `replica-${round}-${n}`, key: 'message:0' })
    expect(sampleOf(prometheusText(node), 'sluice_gossip_replicas')).toBe(1_000)
    clock.advance(3_000)
  }
  expect(sampleOf(prometheusText(node), 'sluice_gossip_ignored_total{reason="too-many-logs"}')).toBeUndefined()
})

test.each([
  ['without a status', 'counters:id:a', [0, 1, 0]],
  ['of replicas that are gone', 'counters:member', ['gone', 0, 0, 0, []]],
])('3,000 logs of counters %s are taken over', async (_, key, value) => {
  const clock = new FakeClock()
  const node = createGossip({ peers: [], clock })
  const counters = gossipCounters(node, { deadAfterMs: '1s' })
  clock.advance(3_000)
  flood(node, { logs: 3_000, nameOf: counterLog, key, value })
  flood(node, { logs: 3_000, nameOf: (n) => counterLog(3_000 + n), key, value })
  for (let second = 0; second < 20; second++) clock.advance(1_000)
  expect(sampleOf(prometheusText(node), 'sluice_gossip_replicas')).toBeLessThan(10)
  expect((await counters.increment('b')).value).toBe(1)
})

test('a log that the receiver does not want is not sent in every exchange', async () => {
  const clock = new FakeClock()
  const without = createGossip({ peers: [], clock })
  const { peer, bytes } = recorded(without)
  const node = createGossip({ peers: [peer], clock })
  const counters = gossipCounters(node)
  await counters.incrementMany(Array.from({ length: 500 }, (_, n) => [`id ${n} ${'x'.repeat(50)}`, 1] as const))
  const asked = recorded(node)
  const asker = createGossip({ peers: [asked.peer], clock })
  for (let exchange = 0; exchange < 3; exchange++) {
    expect(await node.exchangeWithOne()).toBe(true)
    expect(await asker.exchangeWithOne()).toBe(true)
  }
  bytes.splice(0)
  asked.bytes.splice(0)
  expect(await node.exchangeWithOne()).toBe(true)
  expect(await asker.exchangeWithOne()).toBe(true)
  expect(bytes.reduce((sum, one) => sum + one)).toBeLessThan(2_000)
  expect(asked.bytes.reduce((sum, one) => sum + one)).toBeLessThan(2_000)
})

test('the transfer of a long log ends when the log is no longer wanted', async () => {
  const clock = new FakeClock()
  const to = new HostileSender()
  let asks = 0
  const log = counterLog(1)
  // endless: each answer has another part, and none is the last one
  const endless: GossipPeer = {
    name: 'endless',
    exchange: async (message) => {
      const { kind, nonce } = JSON.parse(Buffer.from(message).toString())
      if (kind === 'push') return bytesOf({ v: 1, kind: 'done', from: 'endless', nonce })
      asks++
      if (asks === 3) to.pushLog(node, counterLog(2), [[`counters:folded:${log}`, 1]])
      const parts = [[log, 0, asks, [[asks, 0, 'counters:id:a', [0, 1, 0]]], 1]]
      const clocks = [[log, 10_000]]
      return bytesOf({ v: 1, kind: 'answer', from: 'endless', nonce, ticket: '', clocks, parts })
    },
  }
  const node = createGossip({ peers: [endless], clock })
  gossipCounters(node)
  await node.exchangeWithOne()
  expect(asks).toBeLessThan(10)
})

test('the transfer of a long log ends when a part contains nothing new', async () => {
  let asks = 0
  const stuck: GossipPeer = {
    name: 'stuck',
    exchange: async (message) => {
      const { nonce } = JSON.parse(Buffer.from(message).toString())
      asks++
      const parts = [['log', 0, 5, [[5, 0, 'unknown:a', 1]], 1]]
      const clocks = [['log', 10]]
      return bytesOf({ v: 1, kind: 'answer', from: 'stuck', nonce, ticket: '', clocks, parts })
    },
  }
  const node = createGossip({ peers: [stuck], clock: new FakeClock() })
  await node.exchangeWithOne()
  expect(asks).toBeLessThan(10)
})
