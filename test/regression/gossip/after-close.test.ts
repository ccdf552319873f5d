import { describe, expect, test } from '@jest/globals'
import { createGossip, type GossipPeer, gossipChannel } from '@sluice/gossip'
import type { Observer } from '@sluice/limiter-core'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import { FakeClock } from '@sluice/testkit'

async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => afterThisTurn(() => resolve(undefined)))
}

describe('a closed replica', () => {
  test('asks no peers', async () => {
    let asked = 0
    const peer: GossipPeer = {
      name: 'peer',
      exchange: async () => {
        asked++
        throw new Error('unreachable')
      },
    }
    const node = createGossip({ peers: [peer], clock: new FakeClock() })
    await node.close()
    asked = 0
    expect(await node.exchangeWithAll()).toEqual({ answered: 0, asked: 0 })
    expect(await node.exchangeWithOne()).toBe(false)
    await node.tick()
    expect(asked).toBe(0)
  })

  test('ends the exchanges under way, without a timer, a message or an event', async () => {
    const clock = new FakeClock()
    const other = createGossip({ peers: [], clock })
    const replies: (() => void)[] = []
    let sent = 0
    const peer: GossipPeer = {
      name: other.replica,
      // ignores the signal, as custom transports may
      exchange: (message) => {
        sent++
        return new Promise((resolve) => replies.push(() => resolve(other.answer(message))))
      },
    }
    const events: string[] = []
    const observer: Observer = { event: (name) => void events.push(name) }
    const node = createGossip({ peers: [peer], clock, observers: [observer] })
    gossipChannel(node).publish('news', Buffer.from('a'))
    const running = [node.tick(), node.tick(), node.exchangeWithAll()]
    await turns()
    const closed = node.close()
    await turns()
    clock.advance(1_000)
    await closed
    const before = sent
    for (const reply of replies.splice(0)) reply()
    await Promise.all(running)
    await turns()
    expect(sent).toBe(before)
    await other.close()
    expect(clock.pending).toBe(0)
  })
})
