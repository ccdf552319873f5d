import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from '@jest/globals'
import { prometheusText } from '@sluice/fleet/metrics'
import { createGossip, type GossipNode, type GossipPeer, gossipChannel } from '@sluice/gossip'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { codeOf } from '../code-of.ts'
import { endedAfterEach } from '../services/for-tests.ts'

const SECRET = 'a secret of the whole fleet'
const nodes: GossipNode[] = []
const servers = endedAfterEach<Server>((server) => server.close())

afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.close()))
})

function nodeOf(options: Partial<Parameters<typeof createGossip>[0]> = {}): GossipNode {
  const node = createGossip({ peers: [], clock: new FakeClock(), secret: SECRET, ...options })
  nodes.push(node)
  return node
}

/** A peer from one node to another that records the messages. */
function recording(to: GossipNode): { readonly peer: GossipPeer; readonly sent: Uint8Array[] } {
  const sent: Uint8Array[] = []
  const exchange = async (message: Uint8Array): Promise<Uint8Array> => {
    sent.push(message)
    return to.answer(message)
  }
  return { peer: { name: to.replica, exchange }, sent }
}

function sealed(body: unknown, secret = SECRET): Buffer {
  const text = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  return Buffer.concat([createHmac('sha256', secret).update(text).digest(), text])
}

const ask = { v: 1, kind: 'ask', from: 'replica', nonce: 'n', clocks: [] }

describe('a replica rejects', () => {
  test('messages with another secret or without one, and counts them', () => {
    const node = nodeOf()
    expect(codeOf(() => node.answer(sealed(ask, 'another secret of a fleet')))).toBe('SLUICE_GOSSIP_FORGED')
    expect(codeOf(() => node.answer(Buffer.from(JSON.stringify(ask))))).toBe('SLUICE_GOSSIP_FORGED')
    expect(codeOf(() => node.answer(new Uint8Array()))).toBe('SLUICE_GOSSIP_FORGED')
    expect(prometheusText(node)).toContain('sluice_gossip_refused_total{code="SLUICE_GOSSIP_FORGED"} 3')
    expect(node.answer(sealed(ask)).length).toBeGreaterThan(32)
  })

  test('a push that is replayed later or to another replica, though it was valid once', async () => {
    const clock = new FakeClock()
    const [to, other] = [nodeOf({ clock }), nodeOf({ clock })]
    const received: string[] = []
    for (const node of [to, other]) {
      gossipChannel(node).subscribe('news', (bytes) => received.push(Buffer.from(bytes).toString()))
    }
    const { peer, sent } = recording(to)
    const from = nodeOf({ clock, peers: [peer] })
    gossipChannel(from).publish('news', Buffer.from('a'))
    await from.tick()
    const [, push] = sent
    expect(received).toEqual(['a'])
    expect(codeOf(() => other.answer(push))).toBe('SLUICE_GOSSIP_FORGED')
    // an immediate repetition is accepted, but contains nothing new
    to.answer(push)
    clock.advance(10_000)
    expect(codeOf(() => to.answer(push))).toBe('SLUICE_GOSSIP_FORGED')
    expect(received).toEqual(['a'])
  })

  test('an outdated answer', async () => {
    const clock = new FakeClock()
    const to = nodeOf({ clock })
    gossipChannel(to).publish('news', Buffer.from('a'))
    let old: Uint8Array | undefined
    const exchange = async (message: Uint8Array): Promise<Uint8Array> => (old ??= to.answer(message))
    const events: object[] = []
    const observers = [{ event: (event: string, data: object) => events.push({ ...data, event }) }]
    const from = nodeOf({ clock, peers: [{ name: 'to', exchange }], observers })
    await from.tick()
    expect(events).toEqual([])
    await from.tick()
    expect(events).toEqual([expect.objectContaining({ event: 'backendFailed', backend: 'gossip' })])
  })

  test.each([
    ['no JSON', 'hello'],
    ['no object', []],
    ['another version', { ...ask, v: 2 }],
    ['another kind', { ...ask, kind: 'shout' }],
    ['an answer without a request', { ...ask, kind: 'answer', ticket: '', parts: [] }],
    ['no replica', { ...ask, from: '' }],
    ['a replica name with a space', { ...ask, from: 'a b' }],
    ['invalid clocks', { ...ask, clocks: {} }],
    ['a negative clock', { ...ask, clocks: [['a', -1]] }],
    ['a clock beyond 2^53', { ...ask, clocks: [['a', 2 ** 53]] }],
    ['a push without a ticket', { ...ask, kind: 'push', parts: [] }],
    [
      'items out of order',
      {
        ...ask,
        kind: 'push',
        ticket: '',
        parts: [
          [
            'a',
            0,
            5,
            [
              [2, 0, 'k', 1],
              [1, 0, 'k', 1],
            ],
          ],
        ],
      },
    ],
    ['items beyond the end', { ...ask, kind: 'push', ticket: '', parts: [['a', 0, 1, [[2, 0, 'k', 1]]]] }],
    ['a negative age', { ...ask, kind: 'push', ticket: '', parts: [['a', 0, 5, [[2, -5, 'k', 1]]]] }],
    [
      'a key that is too long',
      { ...ask, kind: 'push', ticket: '', parts: [['a', 0, 5, [[2, 0, 'k'.repeat(2_000), 1]]]] },
    ],
  ])('%s', (_, body) => {
    expect(codeOf(() => nodeOf().answer(sealed(body)))).toBe('SLUICE_BAD_MESSAGE')
  })

  test('more than 256 KiB', () => {
    expect(codeOf(() => nodeOf().answer(sealed(' '.repeat(262_144))))).toBe('SLUICE_BAD_MESSAGE')
  })

  test('randomly damaged messages, and stays unchanged', () =>
    eachSeed(20, async (random) => {
      const clock = new FakeClock()
      const to = nodeOf({ clock })
      const received: unknown[] = []
      gossipChannel(to).subscribe('news', (bytes) => received.push(bytes))
      const { peer, sent } = recording(to)
      const from = nodeOf({ clock, peers: [peer] })
      gossipChannel(from).publish('news', Buffer.from('a'))
      await from.tick()
      for (const message of sent) {
        for (let n = 0; n < 20; n++)
          expect(codeOf(() => to.answer(damaged(message, random)))).toBe('SLUICE_GOSSIP_FORGED')
      }
      expect(received).toHaveLength(1)
    }))
})

describe('invalid options are rejected', () => {
  test.each([
    ['no peers', { peers: undefined }],
    ['an invalid peer address', { peers: ['somewhere'] }],
    ['a peer address of another protocol', { peers: ['ftp://127.0.0.1/'] }],
    ['a password in an address', { peers: ['http://a:b@127.0.0.1/'] }],
    ['a peer on another machine without a secret', { peers: ['http://10.0.0.1/gossip'], secret: undefined }],
    ['a short secret', { secret: 'short' }],
    ['an unknown option', { peer: [] }],
  ])('%s', (_, options) => {
    expect(codeOf(() => createGossip({ peers: [], ...options } as never))).toBe('SLUICE_BAD_OPTION')
  })

  test.each([
    ['messages kept for 10 ms', { retainMs: 10 }],
    ['no room', { maxRetainedBytes: 0 }],
    ['messages above 4 MiB', { maxMessageBytes: 2 ** 23 }],
  ])('%s', (_, options) => {
    expect(codeOf(() => gossipChannel(nodeOf(), options))).toBe('SLUICE_BAD_OPTION')
  })

  test('a second channel on one node', () => {
    const node = nodeOf()
    gossipChannel(node)
    expect(codeOf(() => gossipChannel(node))).toBe('SLUICE_BAD_OPTION')
    expect(codeOf(() => gossipChannel({} as never))).toBe('SLUICE_BAD_OPTION')
  })
})

describe('over HTTP', () => {
  async function serve(node: GossipNode): Promise<string> {
    const server = createServer((req, res) => void node.handler(req, res))
    servers.push(server)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  }

  async function status(url: string, init: RequestInit): Promise<number> {
    const response = await fetch(url, init)
    await response.arrayBuffer()
    return response.status
  }

  test('invalid messages have distinct status codes', async () => {
    const url = await serve(nodeOf())
    expect(await status(url, { method: 'GET' })).toBe(405)
    expect(await status(url, { method: 'POST', body: 'hello' })).toBe(403)
    expect(await status(url, { method: 'POST', body: sealed('hello') })).toBe(400)
    expect(await status(url, { method: 'POST', body: new Uint8Array(262_145) })).toBe(413)
    expect(await status(url, { method: 'POST', body: sealed(ask) })).toBe(200)
  })

  test('without a secret, requests through a proxy are not treated as local', async () => {
    const url = await serve(nodeOf({ secret: undefined }))
    const body = JSON.stringify(ask)
    expect(await status(url, { method: 'POST', body })).toBe(200)
    expect(await status(url, { method: 'POST', body, headers: { 'X-Forwarded-For': '10.0.0.1' } })).toBe(403)
  })
})

function damaged(message: Uint8Array, random: SeededRandom): Uint8Array {
  const bytes = Uint8Array.from(message)
  const way = random.whole(3)
  if (way === 0) bytes[random.whole(bytes.length)] ^= 1 << random.whole(8)
  if (way === 1) return bytes.subarray(0, random.whole(bytes.length))
  if (way === 2) return Uint8Array.from([...bytes, random.whole(256)])
  return bytes
}
