import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { createGossip, type GossipNode, type GossipPeer, gossipChannel, gossipCounters } from '@sluice/gossip'
import { FakeClock, seededRandom } from '@sluice/testkit'
import { GossipFleet } from '../../gossip/gossip-fleet.ts'

describe('gossip', () => {
  test('closes, and contacts replicas, even if peers() never answers', async () => {
    const clock = new FakeClock()
    let isHung = true
    const peers = (): [] | Promise<never> => (isHung ? new Promise<never>(() => {}) : [])
    const node = createGossip({ peers, clock, waitMs: '1s' })
    const ticks = [1, 2, 3, 4].map(() => node.tick())
    await turns()
    clock.advance(2_000)
    expect(await settledSoon(Promise.all(ticks))).toBe(true)
    isHung = false
    const closed = node.close()
    clock.advance(2_000)
    expect(await settledSoon(closed)).toBe(true)
  })

  test('entries that others have forgotten and one replica keeps block nothing, and are not sent repeatedly', async () => {
    const fleet = new GossipFleet(seededRandom(1))
    // the third replica has received writes of the second, which has no channel
    const [first, keeper, third] = [fleet.start(), fleet.start(), fleet.start()]
    const texts: string[] = []
    gossipChannel(third, { retainMs: '10s' }).subscribe('news', (bytes) => texts.push(String(bytes.length)))
    const channel = gossipChannel(first, { retainMs: '10s' })
    for (let n = 0; n < 30; n++) channel.publish('news', new Uint8Array(10_000))
    await fleet.run(20_000, 50)
    expect(texts).toHaveLength(30)
    fleet.kill(first)
    const later = fleet.start()
    gossipChannel(later, { retainMs: '10s' }).publish('news', new Uint8Array(7))
    const asked = counting(keeper)
    const asking = createGossip({ peers: [peerOf(later)], clock: fleet.clock })
    await asking.tick()
    await asking.close()
    await fleet.run(3_000)
    expect(texts.at(-1)).toBe('7')
    const exchanges = asked.count
    await fleet.run(1_000)
    expect(asked.count - exchanges).toBeLessThan(60)
    await fleet.stop()
  })

  test('reports a message that arrived too late, even if another replica had kept it', async () => {
    const fleet = new GossipFleet(seededRandom(1))
    const [first, , away] = [fleet.start(), fleet.start(), fleet.start()]
    const events: unknown[] = []
    away.observers.add({ event: (name, data) => events.push({ name, ...data }) })
    const channel = gossipChannel(first, { retainMs: '10s' })
    const texts: string[] = []
    gossipChannel(away, { retainMs: '10s' }).subscribe('news', (bytes) => texts.push(Buffer.from(bytes).toString()))
    channel.publish('news', Buffer.from('a'))
    await fleet.run(2_000)
    fleet.part((index) => index === 2)
    channel.publish('news', Buffer.from('b'))
    await fleet.run(15_000, 50)
    // the remaining replica must not forget before the others
    fleet.kill(first)
    fleet.heal()
    await fleet.run(3_000)
    expect(texts).toEqual(['a'])
    expect(events).toContainEqual({ name: 'sync', topic: 'news', missed: true })
    await fleet.stop()
  })

  test('contacts an address that this replica answered before if it is the only one, because other replicas may answer there', async () => {
    const clock = new FakeClock()
    const other = createGossip({ peers: [], clock })
    let asked = 0
    const shared: GossipPeer = {
      name: 'shared',
      exchange: async (message) => (asked++ === 0 ? node.answer(message) : other.answer(message)),
    }
    const node: GossipNode = createGossip({ peers: [shared], clock })
    await node.tick()
    await node.tick()
    expect(asked).toBeGreaterThan(1)
    await Promise.all([node.close(), other.close()])
  })

  test('rejects writes that do not fit into a message', async () => {
    const node = createGossip({ peers: [], clock: new FakeClock() })
    const refused = { code: 'SLUICE_BAD_MESSAGE' }
    expect(() => node.write('other:1', 'x'.repeat(70_000))).toThrow(expect.objectContaining(refused))
    expect(() => node.write('k'.repeat(2_000), 1)).toThrow(expect.objectContaining(refused))
    expect(() => node.write('other:1', 1n)).toThrow(expect.objectContaining(refused))
    await node.close()
  })

  test('does not keep parts of a message that no channel may send', async () => {
    const fleet = new GossipFleet(seededRandom(1))
    const [from, to] = [fleet.start(), fleet.start()]
    const sizes: number[] = []
    gossipChannel(to).subscribe('news', (bytes) => sizes.push(bytes.length))
    const count = 400
    for (let index = 0; index < count; index++) from.write(`message:${index}`, ['news', 'YQ==', index, count])
    await fleet.run(3_000)
    expect(sizes).toEqual([])
    await fleet.stop()
  })

  test('a replica that contacts itself is not counted as a holder of its entries', async () => {
    const clock = new FakeClock()
    const peers: GossipPeer[] = []
    const node = createGossip({ peers, clock })
    peers.push(peerOf(node))
    const counters = gossipCounters(node, { waitMs: '1s' })
    const counted = counters
      .increment('a', 1, { minReplicas: 2 })
      .catch((error: { readonly code: string }) => error.code)
    for (let turn = 0; turn < 20; turn++) {
      await turns()
      clock.advance(100)
    }
    expect(await counted).toBe('SLUICE_COUNTERS_NOT_REPLICATED')
    await counters.close().catch(() => {})
    await node.close()
  })

  test('answers behind a body parser', async () => {
    const node = createGossip({ peers: [], secret: 'a secret of the whole fleet', clock: new FakeClock() })
    const server = createServer(async (req, res) => {
      const chunks: Buffer[] = []
      for await (const chunk of req) chunks.push(chunk as Buffer)
      await node.handler(Object.assign(req, { body: Buffer.concat(chunks) }), res)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const signal = AbortSignal.timeout(2_000)
    const from = createGossip({ peers: [], secret: 'a secret of the whole fleet', clock: new FakeClock() })
    const response = await fetch(url, { method: 'POST', body: 'forged', signal }).finally(() => {
      server.closeAllConnections()
      server.close()
    })
    expect(response.status).toBe(403)
    await Promise.all([node.close(), from.close()])
  })
})

function counting(node: GossipNode): { count: number } {
  const asked = { count: 0 }
  const answer = node.answer.bind(node)
  node.answer = (message) => {
    asked.count++
    return answer(message)
  }
  return asked
}

function peerOf(node: GossipNode): GossipPeer {
  return { name: node.replica, exchange: async (message) => node.answer(message) }
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

async function settledSoon(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false
  void promise.then(() => {
    isSettled = true
  })
  await turns()
  return isSettled
}
