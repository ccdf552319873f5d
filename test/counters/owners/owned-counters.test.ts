import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import {
  counterClient,
  counterService,
  createCounters,
  MemoryLedger,
  type OwnedCounters,
  ownedCounters,
} from '@sluice/counters'
import type { Counters } from '@sluice/fleet/backend'
import { systemClock } from '@sluice/limiter-core/backend'
import { counterContract, FakeClock } from '@sluice/testkit'

const names = ['a', 'b', 'c'] as const

describe('counters with owners', () => {
  counterContract(
    { describe, test },
    (clock) => {
      const ledger = new MemoryLedger(clock)
      const locals: Record<string, Counters> = Object.fromEntries(
        names.map((name) => [name, createCounters({ ledger, clock, expireMs: 1 })]),
      )
      let opened = 0
      const open = (): Counters => {
        const self = names[opened++ % names.length]
        const { [self]: local, ...peers } = locals
        return ownedCounters({ self, local, peers, clock })
      }
      return { open, close: () => {} }
    },
    { durable: false },
  )

  test('reject invalid options', () => {
    const local = createCounters()
    const bad: readonly object[] = [
      { self: '', local, peers: {} },
      { self: 'a', local: {}, peers: {} },
      { self: 'a', local, peers: { a: local } },
      { self: 'a', local, peers: { b: {} } },
    ]
    for (const options of bad) {
      expect(() => ownedCounters(options as never)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
    }
  })

  test('route to a recovered node again', async () => {
    const clock = new FakeClock()
    const ledger = new MemoryLedger(clock)
    const b = createCounters({ ledger, clock })
    const asked: string[] = []
    let isAway = true
    const peer = new Proxy(b, {
      get: (target, name: keyof Counters) => async (id: string, delta: number, options: object) => {
        asked.push(String(name))
        if (isAway) throw Object.assign(new Error('away'), { code: 'SLUICE_COUNTERS_UNAVAILABLE' })
        return name === 'increment' ? target.increment(id, delta, options) : undefined
      },
    })
    const a = ownedCounters({ self: 'a', local: createCounters({ ledger, clock }), peers: { b: peer }, clock })
    const ids = Array.from({ length: 20 }, (_, index) => `id:${index}`)
    for (const id of ids) await a.increment(id)
    expect([asked.length, a.down]).toEqual([1, ['b']])
    isAway = false
    clock.advance(2_000)
    expect(a.down).toEqual([])
    for (const id of ids) await a.increment(id)
    expect(asked.length).toBeGreaterThan(4)
    expect(await a.aggregate('id:')).toBe(40)
  })
})

describe('two owners that consider each other dead', () => {
  /** Wraps the counters of a peer. They are unreachable while `isCut` returns true. */
  function cutWhen(isCut: () => boolean, counters: Counters): Counters {
    const away = (): never => {
      throw Object.assign(new Error('away'), { code: 'SLUICE_COUNTERS_UNAVAILABLE' })
    }
    return new Proxy(counters, {
      get:
        (target, name: 'increment') =>
        async (...args: Parameters<Counters['increment']>) =>
          isCut() ? away() : target[name](...args),
    })
  }

  test('lose nothing, and agree one flush after the partition ends', async () => {
    const clock = new FakeClock()
    const ledger = new MemoryLedger(clock)
    let isCut = true
    const [a, b] = [1, 2].map(() => createCounters({ ledger, clock, expireMs: '1s' }))
    const nodes = [
      ownedCounters({ self: 'a', local: a, peers: { b: cutWhen(() => isCut, b) }, clock }),
      ownedCounters({ self: 'b', local: b, peers: { a: cutWhen(() => isCut, a) }, clock }),
    ]
    const ids = Array.from({ length: 40 }, (_, index) => `id:${index}`)
    for (const id of ids) for (const node of nodes) await node.increment(id, 3)
    expect(nodes.map(({ down }) => down)).toEqual([['b'], ['a']])
    isCut = false
    clock.advance(2_000)
    await Promise.all(nodes.map((node) => node.flush()))
    clock.advance(1_000)
    for (const node of nodes) {
      for (const id of ids) expect([id, (await node.read(id)).value]).toEqual([id, 6])
      expect([node.down, await node.aggregate('id:')]).toEqual([[], 240])
    }
  })
})

describe('three services that each own a part of the ids', () => {
  interface Node {
    readonly owned: OwnedCounters
    readonly url: string
    readonly server: Server
  }

  /** Peers use the paths below /node, which a node counts itself. All other clients are routed. */
  async function startNodes(ledger: MemoryLedger): Promise<Node[]> {
    const servers = await Promise.all(
      names.map(async () => {
        const server = createServer()
        await once(server.listen(0, '127.0.0.1'), 'listening')
        return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
      }),
    )
    return names.map((self, index) => {
      const local = createCounters({ ledger, expireMs: '1s' })
      const peers = Object.fromEntries(
        names.flatMap((name, at) =>
          name === self ? [] : [[name, counterClient({ url: `${servers[at].url}/node`, retries: 0, waitMs: '1s' })]],
        ),
      )
      const owned = ownedCounters({ self, local, peers })
      const [inner, outer] = [counterService({ counters: local }), counterService({ counters: owned })]
      servers[index].server.on('request', (req, res) => {
        if (!req.url?.startsWith('/node/')) return void outer(req, res)
        req.url = req.url.slice('/node'.length)
        void inner(req, res)
      })
      return { owned, ...servers[index] }
    })
  }

  test('answer for all ids, and continue within two seconds when one service is lost', async () => {
    const nodes = await startNodes(new MemoryLedger(systemClock))
    const clients = nodes.map(({ url }) => counterClient({ url, retries: 0 }))
    const ids = Array.from({ length: 60 }, (_, index) => `id:${index}`)
    for (const [index, id] of ids.entries()) await clients[index % 3].increment(id, 1)
    for (const [index, id] of ids.entries()) expect((await clients[(index + 1) % 3].read(id)).value).toBe(1)
    expect(await clients[0].aggregate('id:')).toBe(60)
    nodes[2].server.close()
    nodes[2].server.closeAllConnections()
    const from = performance.now()
    for (const id of ids) await clients[0].increment(id, 1)
    for (const id of ids) expect((await clients[1].read(id)).value).toBe(2)
    expect(performance.now() - from).toBeLessThan(10_000)
    expect(await clients[0].aggregate('id:')).toBe(120)
    expect(nodes[0].owned.down).toEqual(['c'])
    expect(await (await fetch(`${nodes[0].url}/counters/id:*/aggregate`)).json()).toEqual({
      prefix: 'id:',
      sum: 120,
      down: ['c'],
    })
    expect(await (await fetch(`${nodes[0].url}/counters?limit=1`)).json()).toMatchObject({ down: ['c'] })
    for (const { server } of nodes.slice(0, 2)) {
      server.close()
      server.closeAllConnections()
    }
  })

  test('are called directly by a client that has all addresses, and within two seconds when one service is lost', async () => {
    const nodes = await startNodes(new MemoryLedger(systemClock))
    let hops = 0
    for (const { server } of nodes)
      server.prependListener('request', ({ url }) => void (url?.startsWith('/node/') && hops++))
    const client = counterClient({ url: Object.fromEntries(names.map((name, index) => [name, nodes[index].url])) })
    const ids = Array.from({ length: 60 }, (_, index) => `id:${index}`)
    for (const id of ids) expect(await client.increment(id, 2)).toMatchObject({ value: 2, counted: true })
    for (const id of ids) expect((await client.read(id)).value).toBe(2)
    expect(hops).toBe(0)
    expect((await client.incrementMany({ 'id:0': 1, 'id:1': 1 }, { token: 't' })).counted).toBe(true)
    expect(await client.aggregate('id:')).toBe(122)
    nodes[1].server.close()
    nodes[1].server.closeAllConnections()
    const times: number[] = []
    for (const id of ids) {
      const from = performance.now()
      await client.increment(id)
      times.push(performance.now() - from)
    }
    expect(client.down).toEqual(['b'])
    expect(Math.max(...times)).toBeLessThan(2_000)
    expect(await client.aggregate('id:')).toBe(182)
    await client.close()
    await expect(client.read('id:0')).rejects.toMatchObject({ code: 'SLUICE_COUNTERS_CLOSED' })
    for (const index of [0, 2]) {
      nodes[index].server.close()
      nodes[index].server.closeAllConnections()
    }
  })
})
