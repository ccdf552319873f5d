import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { type Answer, type Backend, systemClock } from '@sluice/limiter-core/backend'
import { type RowStore, StoreFailure, storeBackend } from '@sluice/stores'
import { FakeClock } from '@sluice/testkit'
import { charge, LIMIT, take, used, within } from './bench.ts'
import { MemoryRowStore } from './memory-row-store.ts'

let store: MemoryRowStore
let backend: Backend<Promise<Answer>>

beforeEach(() => {
  store = new MemoryRowStore()
  backend = storeBackend(store)
})

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
const never = (): Promise<never> => new Promise(() => {})
const timed = (ms: number): Promise<Answer> => backend.takeAll([charge(backend)], within(ms))

describe('a store that hangs', () => {
  test.each([
    ['read', false],
    ['write', true],
  ])('in %s is given up at the deadline', async (method, mayHaveCounted) => {
    store.before = (called) => (called === method ? never() : undefined)
    await expect(timed(20)).rejects.toMatchObject({ code: 'LATE', mayHaveCounted })
    store.before = () => {}
    await timed(10_000)
    expect(await used(backend)).toBe(1)
  })

  test('and writes after the deadline counts the take once, as its failure says', async () => {
    let release = (): void => {}
    store.before = (called) => called === 'write' && new Promise<void>((resolve) => (release = resolve))
    await expect(timed(20)).rejects.toMatchObject({ code: 'LATE', mayHaveCounted: true })
    store.before = () => {}
    release()
    expect(await used(backend)).toBe(1)
    expect(await take(backend)).toBe(true)
    expect(await used(backend)).toBe(2)
  })

  test('is not called for a request whose deadline has passed', async () => {
    await expect(timed(-1)).rejects.toMatchObject({ code: 'LATE', mayHaveCounted: false })
    expect(store.reads).toBe(0)
  })
})

describe('a clock of the store that never answers', () => {
  test('is asked again after a second', async () => {
    const clock = new FakeClock({ nowMs: 1_000 })
    let asked = 0
    const now = (): Promise<number> => (asked++ === 0 ? never() : Promise.resolve(clock.wall()))
    const slow = storeBackend(Object.assign(store, { now }), { clock })
    const first = slow.takeAll([charge(slow)], { deadlineAt: clock.now() + 50 })
    await turn()
    clock.advance(50)
    await expect(first).rejects.toMatchObject({ code: 'LATE', mayHaveCounted: false })
    clock.advance(1_000)
    expect(await take(slow)).toBe(true)
    expect(asked).toBe(2)
  })
})

describe('a store that fails', () => {
  test.each([
    ['read', false],
    ['write', true],
  ])('in %s rejects the takes of the key with its error as the cause', async (method, mayHaveCounted) => {
    const cause = new Error('disk full')
    store.before = (called) => {
      if (called === method) throw cause
    }
    const failed = await Promise.allSettled([take(backend), take(backend)])
    for (const one of failed) {
      expect(one).toMatchObject({
        reason: { code: 'STORE', message: 'disk full', keyOnly: false, mayHaveCounted, cause },
      })
      expect((one as PromiseRejectedResult).reason).toBeInstanceOf(StoreFailure)
    }
    store.before = () => {}
    expect(await used(backend)).toBe(0)
  })

  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a text', 'text'],
    [
      'an object without text',
      Object.create(null, {
        message: {
          get: () => {
            throw new Error('x')
          },
        },
      }),
    ],
  ])('with %s still rejects with an error', async (_, thrown) => {
    const bad: RowStore = {
      read: () => {
        throw thrown
      },
      write: never,
    }
    await expect(take(storeBackend(bad))).rejects.toMatchObject({ name: 'StoreFailure', code: 'STORE' })
  })

  test('reports once that it is lost, and once that it is back', async () => {
    const events: string[] = []
    backend.interrupted?.((event) => events.push(event))
    store.before = () => {
      throw new Error('down')
    }
    for (let time = 0; time < 3; time++) await expect(take(backend)).rejects.toThrow('down')
    store.before = () => {}
    for (let time = 0; time < 3; time++) await take(backend)
    expect(events).toEqual(['lost', 'back'])
    expect(backend.mayHaveLost?.({ key: 'a', counter: charge(backend).counter }, 0)).toBe(false)
  })
})

describe('a store that answers garbage', () => {
  const row = { cells: new Uint8Array(9), version: 1 }
  test.each([
    ['read', undefined],
    ['read', []],
    ['read', [row, row]],
    ['read', [null]],
    ['read', [{ cells: 'AAAA', version: 1 }]],
    ['read', [{ cells: new Uint8Array(1) }]],
    ['write', undefined],
    ['write', 1],
    ['now', Number.NaN],
    ['now', '1'],
  ] as const)('from %s rejects with the code REPLY: %p', async (method, answer) => {
    const bad = Object.assign(store, { [method]: async () => answer })
    const mayHaveCounted = method === 'write'
    await expect(take(storeBackend(bad))).rejects.toMatchObject({ code: 'REPLY', keyOnly: false, mayHaveCounted })
  })

  test.each([
    ['no bytes', []],
    ['another format', [2, 0, 0, 0, 0, 0, 0, 0, 0]],
    ['a part of a number', [1, 0, 0]],
    ['numbers that are not a count', [1, ...new Uint8Array(new Float64Array(5).fill(Number.NaN).buffer)]],
  ])('for one key, %s, fails that key only, and a reset makes it usable', async (_, bytes) => {
    await take(backend)
    const [[key]] = store.data.rows
    const { version } = store.data.find(key) as { version: number }
    store.data.write([{ key, cells: Uint8Array.from(bytes), version }], { ttlMs: 60_000 })
    await expect(take(backend)).rejects.toMatchObject({ code: 'REPLY', keyOnly: true, mayHaveCounted: false })
    expect(await take(backend, 'b')).toBe(true)
    await backend.resetAll([{ key: 'a', counter: charge(backend).counter }])
    expect([await take(backend), await used(backend)]).toEqual([true, 1])
  })
})

describe('a store whose rows others always change', () => {
  test('fails only the key, at the deadline, after several attempts', async () => {
    const { write } = store
    store.write = async () => {
      store.writes++
      return false
    }
    await expect(timed(60)).rejects.toMatchObject({ code: 'CONFLICT', keyOnly: true, mayHaveCounted: false })
    expect(store.writes).toBeGreaterThan(1)
    store.write = write.bind(store)
    expect([await take(backend), await used(backend)]).toEqual([true, 1])
  })
})

describe('the failure rule of a limiter', () => {
  beforeEach(() => {
    jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  })
  afterEach(() => {
    jest.restoreAllMocks()
  })

  const limiterOf = (bad: Partial<RowStore>, onBackendError: 'allow' | 'deny') =>
    createLimiter({
      policies: [{ name: 'hour', limit: LIMIT, window: '1h' }],
      backend: storeBackend({ read: store.read.bind(store), write: store.write.bind(store), ...bad }),
      deadlineMs: 30,
      onBackendError,
    })

  test.each<[string, Partial<RowStore>]>([
    [
      'throws',
      {
        read: () => {
          throw new Error('sync')
        },
      },
    ],
    ['rejects', { write: () => Promise.reject(new Error('async')) }],
    ['hangs', { read: never }],
    ['hangs in write', { write: never }],
    ['answers late', { read: () => new Promise((resolve) => systemClock.after(60, () => resolve([undefined]))) }],
    ['answers garbage', { read: async () => 'rows' as never }],
    ['refuses every write', { write: async () => false }],
  ])('decides if the store %s', async (_, bad) => {
    for (const [rule, allowed] of [
      ['allow', true],
      ['deny', false],
    ] as const) {
      const limiter = limiterOf(bad, rule)
      const decision = await limiter.take('a')
      expect(decision.allowed).toBe(allowed)
      await limiter.close()
    }
  })
})
