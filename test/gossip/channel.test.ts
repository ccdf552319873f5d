import { describe, expect, test } from '@jest/globals'
import { prometheusText } from '@sluice/fleet/metrics'
import { type GossipChannel, type GossipNode, gossipChannel } from '@sluice/gossip'
import { baseSeed, channelContract, eachSeed, seededRandom } from '@sluice/testkit'
import { GossipFleet } from './gossip-fleet.ts'

const RETAIN_MS = 60_000

describe('a channel without a server', () => {
  channelContract({ describe, test }, () => {
    const fleet = new GossipFleet(seededRandom(baseSeed()))
    return {
      open: () => gossipChannel(fleet.start()),
      exchange: () => fleet.run(2_000),
      close: () => fleet.stop(),
    }
  })

  test('delivers each message once and in order over a network that loses, duplicates and delays messages', () =>
    eachSeed(5, async (random) => {
      const fleet = new GossipFleet(random, { loss: 0.2, doubles: 0.2, delayMs: 300 })
      const channels = Array.from({ length: 6 }, () => gossipChannel(fleet.start()))
      const received = channels.map((channel) => listen(channel))
      const sent = channels.map(() => 0)
      for (let step = 0; step < 200; step++) {
        const from = random.whole(channels.length)
        channels[from].publish('news', Buffer.from(`${from}.${sent[from]++}`))
        await fleet.run(random.whole(40))
      }
      await fleet.run(20_000, 50)
      for (const [to, texts] of received.entries()) {
        const expected = sent.flatMap((count, from) => (from === to ? [] : textsOf(from, count)))
        expect([...texts].sort()).toEqual(expected.sort())
        for (const [from, count] of sent.entries()) {
          if (from !== to) expect(texts.filter((text) => text.startsWith(`${from}.`))).toEqual(textsOf(from, count))
        }
      }
      await fleet.stop()
    }))

  test.each([1, 2, 3, 4, 5])(
    'delivers retained messages to a late subscriber, but no older messages: %d',
    async (seed) => {
      const fleet = new GossipFleet(seededRandom(seed))
      // the node without a channel retains messages for longer
      const [one] = [gossipChannel(fleet.start()), fleet.start()]
      one.publish('news', Buffer.from('old'))
      await fleet.run(RETAIN_MS / 2, 100)
      one.publish('news', Buffer.from('new'))
      await fleet.run(RETAIN_MS / 2 + 2_000, 100)
      const late = listen(gossipChannel(fleet.start()))
      await fleet.run(2_000)
      expect(late).toEqual(['new'])
      await fleet.stop()
    },
  )

  test('delivers nothing twice after an absence shorter than retainMs, and reports missed messages after a longer one', async () => {
    const fleet = new GossipFleet(seededRandom(1))
    const events: object[] = []
    const [one, other] = [gossipChannel(fleet.start()), gossipChannel(fleet.start())]
    const texts = listen(other)
    fleet.nodes[1].observers.add({ event: (name, data) => events.push({ name, ...data }) })
    one.publish('news', Buffer.from('a'))
    await fleet.run(1_000)
    fleet.part((index) => index === 1)
    one.publish('news', Buffer.from('b'))
    await fleet.run(RETAIN_MS - 10_000, 100)
    fleet.heal()
    await fleet.run(2_000)
    expect(texts).toEqual(['a', 'b'])
    fleet.part((index) => index === 1)
    one.publish('news', Buffer.from('c'))
    await fleet.run(RETAIN_MS + 10_000, 100)
    one.publish('news', Buffer.from('d'))
    fleet.heal()
    await fleet.run(2_000)
    expect(texts).toEqual(['a', 'b', 'd'])
    expect(events).toContainEqual({ name: 'sync', topic: 'news', missed: true })
    await fleet.stop()
  })

  test('retains at most maxRetainedBytes of a process', async () => {
    const fleet = new GossipFleet(seededRandom(1))
    const one = gossipChannel(fleet.start(), { maxRetainedBytes: 100 })
    for (let n = 0; n < 50; n++) one.publish('news', Buffer.alloc(10, n))
    await fleet.run(1_000)
    const received: number[] = []
    gossipChannel(fleet.start()).subscribe('news', ([value]) => received.push(value))
    await fleet.run(1_000)
    expect(received).toEqual(Array.from({ length: 10 }, (_, n) => 40 + n))
    await fleet.stop()
  })

  test('forgets any number of ended replicas, and delivers none of their messages twice', async () => {
    const fleet = new GossipFleet(seededRandom(baseSeed()))
    const open = (): GossipChannel => gossipChannel(fleet.start(), { retainMs: '10s' })
    const texts = [listen(open()), listen(open())]
    const [first] = fleet.nodes
    let most = 0
    for (let n = 0; n < 300; n++) {
      open().publish('news', Buffer.from(String(n)))
      await fleet.run(2_000, 100)
      fleet.kill(fleet.nodes[2])
      most = Math.max(most, replicasOf(first))
    }
    await fleet.run(100_000, 100)
    for (const received of texts) expect(received).toEqual(Array.from({ length: 300 }, (_, n) => String(n)))
    expect(most).toBeLessThanOrEqual(8)
    expect(replicasOf(first)).toBe(0)
    await fleet.stop()
  })

  test('delivers messages with many parts completely, between other messages', async () => {
    const fleet = new GossipFleet(seededRandom(1), { loss: 0.1 })
    const [one, other] = [gossipChannel(fleet.start()), gossipChannel(fleet.start())]
    const sizes: number[] = []
    other.subscribe('news', (bytes) => sizes.push(bytes.length))
    for (const size of [0, 12_287, 12_288, 12_289, 262_144, 1]) one.publish('news', new Uint8Array(size))
    await fleet.run(5_000)
    expect(sizes).toEqual([0, 12_287, 12_288, 12_289, 262_144, 1])
    await fleet.stop()
  })
})

function replicasOf(node: GossipNode): number {
  return Number(/^sluice_gossip_replicas (\d+)$/m.exec(prometheusText(node))?.[1])
}

function listen(channel: GossipChannel): string[] {
  const texts: string[] = []
  channel.subscribe('news', (bytes) => texts.push(Buffer.from(bytes).toString()))
  return texts
}

function textsOf(from: number, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `${from}.${n}`)
}
