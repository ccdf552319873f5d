import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as createSocketServer, type Socket } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { prometheusText } from '@sluice/fleet/metrics'
import { createGossip, type GossipBackend, type GossipNode, gossipBackend } from '@sluice/gossip'
import { createLimiter, type SyncLimiterOptions } from '@sluice/limiter-core'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { codeOf } from '../code-of.ts'
import { eventually } from '../services/eventually.ts'
import { calledAfterEach } from '../services/for-tests.ts'

const SECRET = 'a secret of the whole fleet'
const stops = calledAfterEach()

interface Target {
  readonly node: GossipNode
  readonly backend: GossipBackend
  readonly clock: FakeClock
  /** Takes one more unit, and returns the remaining units according to this replica. */
  left(): Promise<number>
  /** Time of the process clock when the current window ends. */
  windowEndsAt(): number
}

/** Creates a replica that took 40 of 100 units and knows no other replicas. */
async function target(): Promise<Target> {
  const clock = new FakeClock()
  const node = createGossip({ peers: [], clock, secret: SECRET })
  const backend = gossipBackend(node, { nodes: 1, floor: 0 })
  const policies = [{ name: 'api', limit: 100, window: '1h', algorithm: 'fixed-window', backend }]
  const limiter = createLimiter({ policies, clock, scope: 'default' } as SyncLimiterOptions)
  limiter.take('a', 39)
  clock.advance(100)
  await turns()
  limiter.take('a')
  const left = async (): Promise<number> => {
    limiter.take('a')
    for (let n = 0; n < 4; n++) {
      clock.advance(100)
      await turns()
    }
    return limiter.peek('a').binding.remaining
  }
  const windowEndsAt = (): number => clock.now() + limiter.peek('a').binding.resetAfterMs
  return { node, backend, clock, left, windowEndsAt }
}

function sealed(body: unknown, secret = SECRET): Buffer {
  return sealedText(JSON.stringify(body), secret)
}

function sealedText(json: string, secret = SECRET): Buffer {
  const text = Buffer.from(json)
  return Buffer.concat([createHmac('sha256', secret).update(text).digest(), text])
}

function opened(message: Uint8Array): { readonly ticket: string } {
  return JSON.parse(Buffer.from(message).subarray(32).toString())
}

/** Sends log parts like an attacker who has the secret. */
function push(node: GossipNode, parts: unknown): void {
  const head = { v: 1, from: 'attacker', nonce: 'n' }
  const { ticket } = opened(node.answer(sealed({ ...head, kind: 'ask', clocks: [] })))
  node.answer(sealed({ ...head, kind: 'push', ticket, parts }))
}

const BIG = Number.MAX_SAFE_INTEGER
const ID = 'A'.repeat(22)
const SOME_KEYS = ['limit:', 'limit:__proto__', 'limit:constructor', `limit:${ID}A`, '__proto__:1', 'toString', '', ':']

function hostile(random: SeededRandom, depth = 0): unknown {
  const list = (): unknown[] => Array.from({ length: random.whole(5) }, () => hostile(random, depth + 1))
  const scalars = [null, true, '', 'x', '__proto__', -1, 0, 1.5, 2 ** 53, 1e308, BIG, BIG - 1, 'attacker']
  if (depth > 3 || random.whole(3) > 0) return random.pick(scalars)
  return random.whole(4) === 0 ? { ['__proto__']: 1, length: BIG, constructor: list() } : list()
}

function hostileItem(random: SeededRandom, clock: number): unknown {
  // usage that an attacker reports for itself is valid, but under a key without a limiter here; the rest is malformed
  const value = random.whole(3) === 0 ? [BIG, -1, [BIG, BIG, BIG]] : hostile(random)
  const key = random.whole(3) === 0 ? `limit:${ID}` : random.pick(SOME_KEYS)
  return random.whole(4) === 0 ? hostile(random) : [clock, random.pick([0, 1, BIG, BIG - 1, 1e9]), key, value]
}

describe('a replica that shares limits', () => {
  test('ignores forged, malformed and hostile messages, and continues', () =>
    eachSeed(20, async (random) => {
      const { node, clock, left } = await target()
      const codes = new Set<unknown>()
      for (let n = 0; n < 100; n++) {
        const items = Array.from({ length: random.whole(4) }, (_, at) =>
          hostileItem(random, at + 1 + random.whole(2) * BIG),
        )
        const replica = random.pick(['attacker', node.replica, `r${n}`, '__proto__', hostile(random)])
        const parts = random.whole(5) === 0 ? hostile(random) : [[replica, random.pick([0, 1, BIG]), BIG, items]]
        codes.add(codeOf(() => push(node, parts)))
        const forged = { v: 1, from: 'a', nonce: 'n', kind: random.pick(['ask', 'push', 'done']), parts, clocks: [] }
        expect(codeOf(() => node.answer(sealed(forged, 'a secret of somebody')))).toBe('SLUICE_GOSSIP_FORGED')
        clock.advance(random.whole(50))
        await turns()
      }
      for (const code of codes) expect(['accepted', 'SLUICE_BAD_MESSAGE']).toContain(code)
      expect(await left()).toBe(59)
      expect(prometheusText(node)).toContain('sluice_gossip_refused_total{code="SLUICE_GOSSIP_FORGED"} 100')
      clock.advance(3_000)
      await turns()
      expect(await left()).toBe(58)
    }))

  test('refuses values that are nested so deep that it could not send them on', async () => {
    const { node, left } = await target()
    const ask = { v: 1, kind: 'ask', from: 'attacker', nonce: 'n', clocks: [] }
    for (let depth = 33; depth < 16_000; depth += 97) {
      const { ticket } = opened(node.answer(sealed(ask)))
      const parts = [[`deep-${depth}`, 0, 1, [[1, 0, 'unknown:x', 'VALUE']]]]
      const json = JSON.stringify({ v: 1, kind: 'push', from: 'attacker', nonce: 'n', ticket, parts })
      const nested = json.replace('"VALUE"', '['.repeat(depth) + ']'.repeat(depth))
      expect(codeOf(() => node.answer(sealedText(nested)))).toBe('SLUICE_BAD_MESSAGE')
    }
    expect(codeOf(() => node.answer(sealed(ask)))).toBe('accepted')
    expect(await left()).toBe(59)
  })

  test.each([
    ['a time in the far future', [BIG, 0]],
    ['an invalid time', ['12', 0]],
    ['a negative time', [-1, 0]],
    ['an old time', [1_800_000, BIG]],
    ['a time one day ago', [1_800_000, 86_400_000]],
  ])('does not move the window for %s', async (_, [time, ageMs]) => {
    const { node, clock, left, windowEndsAt } = await target()
    await left()
    const endsAt = windowEndsAt()
    push(node, [['attacker', 0, 1, [[1, ageMs, 'limit:time', time]]]])
    clock.advance(1_000)
    await turns()
    expect(await left()).toBe(58)
    expect(windowEndsAt()).toBe(endsAt)
  })

  test('ignores what other replicas report about its own log', async () => {
    const { node, clock, left } = await target()
    push(node, [[node.replica, BIG, BIG, [[BIG - 1, 0, `limit:${ID}`, [60_000, 0, [0, 5, 0]]]]]])
    clock.advance(2_000)
    await turns()
    expect(await left()).toBe(59)
  })

  test('keeps at most 20,000 keys of a replica, and counts rejected keys', async () => {
    const { node, backend, clock } = await target()
    let key = 0
    for (let round = 0; round < 60; round++) {
      const items = Array.from({ length: 400 }, (_, at) => {
        const id = `limit:${String(key++).padStart(22, '0')}`
        return [round * 400 + at + 1, 0, id, [60_000, -1, [0, 1, 0]]]
      })
      push(node, [['attacker', 0, (round + 1) * 400, items]])
    }
    expect(prometheusText(backend)).toContain('sluice_gossip_limit_keys{of="others"} 20000')
    expect(prometheusText(backend)).toContain('sluice_gossip_limit_refused_total 4000')
    clock.advance(70_000)
    await turns()
    expect(prometheusText(backend)).toContain('sluice_gossip_limit_keys{of="others"} 0')
  })
})

describe('stalled sockets', () => {
  async function served(node: GossipNode): Promise<number> {
    const server = createServer((req, res) => void node.handler(req, res))
    stops.push(() => {
      server.closeAllConnections()
      server.close()
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return (server.address() as AddressInfo).port
  }

  function socketTo(port: number): Socket {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    stops.push(() => socket.destroy())
    return socket
  }

  test('do not block other clients, and a late body is dropped with its connection', async () => {
    const { node, clock, left } = await target()
    const port = await served(node)
    const silent = Array.from({ length: 20 }, () => socketTo(port))
    const slow = socketTo(port)
    slow.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nx')
    let answer = ''
    slow.on('data', (bytes) => {
      answer += bytes
    })
    const ask = sealed({ v: 1, kind: 'ask', from: 'other', nonce: 'n', clocks: [] })
    const unread = socketTo(port).pause()
    unread.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${ask.length}\r\n\r\n`)
    unread.write(ask)
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: ask })
    expect(response.status).toBe(200)
    await response.arrayBuffer()
    await eventually(
      async () => {
        clock.advance(1_000)
        slow.write('x')
        await turns()
        return answer.includes('HTTP/1.1 408') && /connection: close/i.test(answer)
      },
      { what: 'the end of a late body' },
    )
    expect(await left()).toBe(59)
    expect(silent.every((socket) => !socket.destroyed)).toBe(true)
  })

  test.each([
    ['nothing', () => {}, 'SLUICE_GOSSIP_UNAVAILABLE'],
    ['a response that is not HTTP', (socket: Socket) => void socket.end('garbage\r\n\r\n'), 'error'],
    ['garbage', (socket: Socket) => void socket.end(ok(Buffer.alloc(1_000, 'x'))), 'SLUICE_GOSSIP_FORGED'],
    ['an empty body', (socket: Socket) => void socket.end(ok(Buffer.alloc(0))), 'SLUICE_GOSSIP_FORGED'],
    ['an endless body', (socket: Socket) => endless(socket), 'SLUICE_BAD_MESSAGE'],
    [
      'a redirect',
      (socket: Socket) => void socket.end('HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n'),
      'error',
    ],
  ])('a peer that answers with %s changes nothing', async (_, answer, code) => {
    const server = createSocketServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => answer(socket))
      stops.push(() => socket.destroy())
    })
    stops.push(() => server.close())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const peer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const node = createGossip({ peers: [peer], secret: SECRET, waitMs: 300, tickMs: '1h' })
    const backend = gossipBackend(node)
    await node.tick()
    expect(prometheusText(node)).toMatch(new RegExp(`sluice_gossip_exchanges_total\\{result="${code}"\\} 1`))
    expect(prometheusText(backend)).toContain('sluice_gossip_limit_keys{of="others"} 0')
    await backend.close?.()
    await node.close()
  })
})

function ok(body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`), body])
}

function endless(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n')
  const more = (): void => {
    while (!socket.destroyed && socket.write(Buffer.alloc(16_384))) {}
  }
  socket.on('drain', more)
  more()
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}
