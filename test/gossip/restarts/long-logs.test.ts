import { expect, test } from '@jest/globals'
import { createGossip, type GossipNode, type GossipPeer, gossipCounters } from '@sluice/gossip'
import { FakeClock } from '@sluice/testkit'

const IDS = 4_000

/** Creates a peer that fails after the given number of answers, and calls `before` before each answer. */
function peerOf(node: GossipNode, { answers, before }: { answers: number; before: () => void }): GossipPeer {
  let left = answers
  return {
    name: node.replica,
    exchange: async (message) => {
      before()
      if (left-- === 0) throw new Error('broken')
      return node.answer(message)
    },
  }
}

async function counted(clock: FakeClock): Promise<{ node: GossipNode; counters: ReturnType<typeof gossipCounters> }> {
  const node = createGossip({ peers: [], clock })
  const counters = gossipCounters(node)
  await counters.incrementMany(Array.from({ length: IDS }, (_, n) => [`id ${n}`, 1] as const))
  return { node, counters }
}

test('a log longer than a message is transferred completely while it is being written', async () => {
  const clock = new FakeClock()
  const { node, counters } = await counted(clock)
  let more = 0
  const before = (): void => {
    // the first ids were already sent, the last ones were not
    void counters.increment(`id ${more * 7}`)
    void counters.increment(`id ${IDS - 1 - more * 7}`)
    more++
  }
  const reader = createGossip({ peers: [peerOf(node, { answers: 1_000, before })], clock })
  const read = gossipCounters(reader)
  expect(await reader.exchangeWithOne()).toBe(true)
  expect(more).toBeGreaterThan(3)
  const lacking = await Promise.all([read, counters].map((one) => one.aggregate('id ')))
  expect(lacking[0]).toBe(lacking[1])
  expect(lacking[0]).toBe(IDS + 2 * more)
})

test('an interrupted log transfer has no effect, and is not reported as received', async () => {
  const clock = new FakeClock()
  const { node, counters } = await counted(clock)
  const broken = peerOf(node, { answers: 2, before: () => {} })
  const whole = { ...peerOf(node, { answers: 1_000, before: () => {} }), name: 'whole' }
  let peers = [broken]
  const reader = createGossip({ peers: () => peers, clock })
  const read = gossipCounters(reader)
  expect(await reader.exchangeWithOne()).toBe(false)
  expect(await read.aggregate('id ')).toBe(0)
  const held = counters.increment('id 0', 1, { minReplicas: 2 })
  peers = [whole]
  expect(await reader.exchangeWithOne()).toBe(true)
  // its next message reports how much of the log it has
  expect(await reader.exchangeWithOne()).toBe(true)
  expect((await held).counted).toBe(true)
  expect(await read.aggregate('id ')).toBe(IDS + 1)
})
