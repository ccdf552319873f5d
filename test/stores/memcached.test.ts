import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { type AlgorithmName, createLimiter, type Decision, type Limiter, type MaybePromise } from '@sluice/limiter-core'
import { systemClock } from '@sluice/limiter-core/backend'
import { type StoreBackendOptions, storeBackend } from '@sluice/stores'
import { memcachedStore } from '@sluice/stores/memcached'
import { backendContract, rowStoreContract } from '@sluice/testkit'
import { MemcacheClient } from 'memcache-client'
import { type MemcachedServer, startMemcached } from '../services/memcached/memcached-server.ts'
import { type ChildNode, startNode } from '../services/processes/child-node.ts'
import { charge, LIMIT, take, used, within } from './bench.ts'

type Taking = typeof import('./children/memcached-taking.ts')

const PROCESSES = 4
let server: MemcachedServer
let client: MemcacheClient
let prefixes = 0

beforeAll(async () => {
  server = await startMemcached()
  client = new MemcacheClient({ server: server.address, noDelay: true })
}, 120_000)
afterAll(async () => {
  client.shutdown()
  await server.stop()
})

const backendOn = (options?: StoreBackendOptions): ReturnType<typeof storeBackend> =>
  storeBackend(memcachedStore(client), { prefix: `test ${prefixes++}`, name: 'memcached', ...options })

describe('memcachedStore', () => {
  rowStoreContract({ describe, test }, () => memcachedStore(client))

  test('keeps rows for more than 30 days, which memcached would take for a time of 1970', async () => {
    const store = memcachedStore(client)
    for (const days of [29, 30, 31, 366 * 100]) {
      const change = { key: `days ${days}`, cells: new Uint8Array([days % 251]), version: undefined }
      expect(await store.write([change], { ttlMs: days * 86_400_000 })).toBe(true)
      expect((await store.read([change.key]))[0]?.cells).toEqual(Buffer.from(change.cells))
    }
  })

  test('keeps a row at least for its time, in whole seconds', async () => {
    const change = { key: 'short', cells: new Uint8Array(1), version: undefined }
    const asked: unknown[] = []
    const add = async (...args: unknown[]): Promise<string[]> => {
      asked.push(args)
      return ['STORED']
    }
    const store = memcachedStore(
      { gets: async () => ({}), add, cas: add },
      { clock: { ...systemClock, wall: () => 1_800_000_000_000 } },
    )
    for (const ttlMs of [1, 60_000, 31 * 86_400_000]) await store.write([change], { ttlMs })
    const lifetimes = [2, 61, 1_800_000_000 + 31 * 86_400 + 1].map((lifetime) => ({ lifetime }))
    expect(asked).toEqual(lifetimes.map((options) => ['short', Buffer.from([0]), options]))
  })

  test('fails for a key that another program has written, until it is reset', async () => {
    const asked = jest.spyOn(client, 'gets')
    const backend = backendOn()
    await backend.takeAll([charge(backend)])
    const [[key]] = asked.mock.calls[0]
    asked.mockRestore()
    await client.set(key, { text: 'of another program' })
    await expect(take(backend)).rejects.toMatchObject({ code: 'REPLY', keyOnly: true })
    expect(await take(backend, 'b')).toBe(true)
    await backend.resetAll([charge(backend)])
    expect(await take(backend)).toBe(true)
  })
})

describe('storeBackend on memcached', () => {
  const oneRow = 'a request has several policies'
  const twoPolicies = 'the limiter has two policies'
  backendContract({ describe, test }, (clock) => backendOn({ clock, serverTime: () => clock.now() }), {
    histories: 3,
    except: {
      'returns its name, its clock reading, and one verdict per charge in order': oneRow,
      'charges every policy or none': oneRow,
      'ignores denials of advisory policies, and does not charge an advisory policy that would deny': oneRow,
      'adopts the reported usage of a key even if another policy denies': oneRow,
      'is not changed by a peek': oneRow,
      'is not changed by a peek at another time, with or without earlier counts': oneRow,
      'holds units of every policy or of none': twoPolicies,
      'spends what a settlement says, once, and returns the rest': twoPolicies,
      'spends more than was held, even above the limit': twoPolicies,
      'holds more units with each extension, and stays as it was if they do not fit': twoPolicies,
      'returns units when the time of their hold is over, and spends them at a later settlement': twoPolicies,
      'holds all units longer after an extension': twoPolicies,
      'takes all units again if a hold is extended after its time': twoPolicies,
    },
  })

  test('admits exactly the limit of 4 processes with 200 takes at once', async () => {
    const children: ChildNode<Taking>[] = []
    for (let process = 0; process < PROCESSES; process++)
      children.push(startNode<Taking>('stores/children/memcached-taking.ts'))
    await Promise.all(children.map((child) => child.call('open', server.address)))
    const admitted = await Promise.all(children.map((child) => child.call('takeMany', 'hot', 200, 700)))
    await Promise.all(children.map((child) => child.stop()))
    expect(admitted.reduce((sum, one) => sum + one)).toBe(700)
  })

  test('gives up a take at its deadline while the server hangs, and counts it at most once', async () => {
    const backend = backendOn()
    await backend.takeAll([charge(backend, 3)])
    server.pause()
    await expect(backend.takeAll([charge(backend)], within(50))).rejects.toMatchObject({ code: 'LATE' })
    server.resume()
    expect([3, 4]).toContain(await used(backend))
    expect(await take(backend)).toBe(true)
  })

  test('decides by the failure rule while the server is gone, and counts from zero afterwards', async () => {
    const backend = backendOn()
    await backend.takeAll([charge(backend, 3)])
    await server.kill()
    await expect(backend.takeAll([charge(backend)], within(5_000))).rejects.toMatchObject({ code: 'STORE' })
    const limiter = createLimiter({
      policies: [{ name: 'gone', limit: LIMIT, window: '1h' }],
      backend: backendOn(),
      onBackendError: 'deny',
    })
    expect((await limiter.take('a')).allowed).toBe(false)
    await limiter.close()
    await server.start()
    expect(await used(backend)).toBe(0)
    expect(await take(backend)).toBe(true)
  })
})

describe('units that are held while the server restarts empty', () => {
  const held = { limit: 10, window: '1h', maxHoldMs: 60_000 } as const
  const limiterOf = (algorithm: AlgorithmName): Limiter<MaybePromise<Decision>> =>
    createLimiter({ policies: [{ ...held, name: 'held', algorithm }], backend: backendOn(), deadlineMs: 5_000 })
  const left = async (limiter: Limiter<MaybePromise<Decision>>): Promise<number> =>
    (await limiter.peek('a')).verdicts[0].remaining

  test.each<[AlgorithmName, settled: number, both: number]>([
    ['fixed-window', 6, 9],
    ['sliding-window', 6, 9],
    ['sliding-log', 6, 9],
    // a bucket does not know when its units were taken, so that it also returns units that were lost
    ['token-bucket', 10, 10],
    ['gcra', 10, 10],
  ])('are not held forever: %s', async (algorithm, settled, both) => {
    const limiter = limiterOf(algorithm)
    const hold = await limiter.hold('a', { reserve: 10 })
    expect(await left(limiter)).toBe(0)
    await server.kill()
    await server.start()
    const other = await limiter.hold('a', { reserve: 4 })
    expect(await left(limiter)).toBe(6)
    await hold.settle(0)
    expect(await left(limiter)).toBe(settled)
    await other.settle(1)
    expect(await left(limiter)).toBe(both)
    await limiter.close()
  })
})

describe('a server that answers something else', () => {
  const sockets = new Set<Socket>()
  let foreign: Server
  let answerText: string
  beforeAll(async () => {
    jest.spyOn(console, 'log').mockImplementation(() => {})
    foreign = createServer((socket) => {
      sockets.add(socket.on('error', () => {}))
      socket.on('data', () => socket.write(answerText))
    })
    await once(foreign.listen(0, '127.0.0.1'), 'listening')
  })
  afterAll(() => {
    jest.restoreAllMocks()
    for (const socket of sockets) socket.destroy()
    foreign.close()
  })

  test.each([
    ['HTTP/1.1 400 Bad Request\r\n\r\n', 'LATE'],
    ['SERVER_ERROR out of memory storing object\r\n', 'STORE'],
    ['VALUE another 2 3 1\r\nabc\r\nEND\r\n', 'STORE'],
  ])('%j fails a take with the code %s', async (text, code) => {
    answerText = text
    const own = new MemcacheClient({ server: `127.0.0.1:${(foreign.address() as AddressInfo).port}` })
    const backend = storeBackend(memcachedStore(own))
    const taken = backend.takeAll([charge(backend)], within(200)).catch((error) => error.code)
    expect(await taken).toEqual(code)
    own.shutdown()
  })
})
