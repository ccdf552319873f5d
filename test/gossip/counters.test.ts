import { describe, expect, test } from '@jest/globals'
import { createGossip, type GossipNode, gossipCounters } from '@sluice/gossip'
import { counterContract, FakeClock } from '@sluice/testkit'

/** Creates a peer that calls a replica of the same process. */
function peerOf(node: GossipNode): { name: string; exchange(message: Uint8Array): Promise<Uint8Array> } {
  return { name: node.replica, exchange: async (message) => node.answer(message) }
}

describe('counters over gossip', () => {
  counterContract(
    { describe, test },
    (clock) => {
      const nodes: GossipNode[] = []
      const open = (): ReturnType<typeof gossipCounters> => {
        const node = createGossip({ peers: () => nodes.map(peerOf), clock, waitMs: '1h' })
        nodes.push(node)
        return gossipCounters(node)
      }
      const close = async (): Promise<void> => {
        for (const node of nodes) await node.close()
      }
      return { open, close }
    },
    { durable: false, tokens: false },
  )

  test('reject invalid options', () => {
    const clock = new FakeClock()
    const bad: readonly object[] = [{ deadAfterMs: 10 }, { deadAfterMs: '2h' }, { maxIds: 0 }, { goneAfter: 1 }]
    for (const options of bad) {
      expect(() => gossipCounters(createGossip({ peers: [], clock }), options)).toThrow(
        expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }),
      )
    }
    expect(() => gossipCounters({} as GossipNode)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
    const node = createGossip({ peers: [], clock })
    gossipCounters(node)
    expect(() => gossipCounters(node)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
  })

  test('hold at most maxIds ids, and keep counting known ids', async () => {
    const counters = gossipCounters(createGossip({ peers: [], clock: new FakeClock() }), { maxIds: 2 })
    await counters.incrementMany({ a: 1, b: 1 })
    await expect(counters.increment('c')).rejects.toMatchObject({ code: 'SLUICE_COUNTERS_FULL' })
    expect((await counters.increment('a')).value).toBe(2)
  })

  test('report that an increment was not replicated if no other replica confirms it in time', async () => {
    const clock = new FakeClock()
    const silent = { name: 'silent', exchange: () => new Promise<Uint8Array>(() => {}) }
    const counters = gossipCounters(createGossip({ peers: [silent], clock }), { waitMs: 1_000 })
    const sent = counters.increment('a', 3, { minReplicas: 2 })
    const settled = expect(sent).rejects.toMatchObject({ code: 'SLUICE_COUNTERS_NOT_REPLICATED' })
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(1_000)
    await settled
    expect((await counters.read('a')).value).toBe(3)
  })
})
