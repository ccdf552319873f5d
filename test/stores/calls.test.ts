import { beforeEach, describe, expect, test } from '@jest/globals'
import { type Answer, type Backend, systemClock } from '@sluice/limiter-core/backend'
import { type StoreBackendOptions, storeBackend } from '@sluice/stores'
import { charge, hour, LIMIT, minute, take, used, within } from './bench.ts'
import { MemoryRowStore } from './memory-row-store.ts'

const TAKES = 1_000

let store: MemoryRowStore

beforeEach(() => {
  store = new MemoryRowStore()
})

const made = (options?: StoreBackendOptions): Backend<Promise<Answer>> => storeBackend(store, options)

describe('takes of one process', () => {
  test('on a hot key share a read and a write', async () => {
    const backend = made()
    const admitted = await Promise.all(Array.from({ length: TAKES }, () => take(backend)))
    expect(admitted.filter(Boolean)).toHaveLength(LIMIT)
    expect([store.reads, store.writes]).toEqual([1, 1])
  })

  test('that arrive while the key is decided wait for the next read', async () => {
    const backend = made()
    const many: Promise<boolean>[] = []
    for (let turn = 0; turn < 20; turn++) {
      for (let one = 0; one < 50; one++) many.push(take(backend, 'a', { ...hour, limit: 100_000 }))
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect((await Promise.all(many)).every(Boolean)).toBe(true)
    expect(store.reads).toBeLessThan(25)
    expect(store.writes).toBe(store.reads)
    expect(await used(backend, 'a', { ...hour, limit: 100_000 })).toBe(TAKES)
  })

  test('on another key do not wait for a slow one', async () => {
    const backend = made()
    let release = (): void => {}
    store.before = () => new Promise<void>((resolve) => (release = resolve))
    const slow = take(backend, 'slow')
    await new Promise((resolve) => setImmediate(resolve))
    store.before = () => {}
    const behind = take(backend, 'slow')
    expect(await take(backend, 'fast')).toBe(true)
    expect(store.reads).toBe(2)
    release()
    expect(await Promise.all([slow, behind])).toEqual([true, true])
    expect(await used(backend, 'slow')).toBe(2)
  })

  test('that are denied, and peeks, write nothing', async () => {
    const backend = made()
    await backend.takeAll([charge(backend, LIMIT)])
    const { writes } = store
    expect(await take(backend)).toBe(false)
    expect(await used(backend)).toBe(LIMIT)
    await backend.takeAll([charge(backend, 0)])
    expect(store.writes).toBe(writes)
  })

  test('are decided in their order if a request joins the groups of two keys', async () => {
    const backend = made()
    const both = [charge(backend, 1, 'a'), charge(backend, LIMIT, 'b')]
    const [, , joint, last] = await Promise.all([
      take(backend, 'b'),
      take(backend, 'a'),
      backend.takeAll(both),
      take(backend, 'b'),
    ])
    expect(joint.verdicts.map(({ allowed }) => allowed)).toEqual([true, false])
    expect(last).toBe(true)
    expect([await used(backend, 'a'), await used(backend, 'b')]).toEqual([1, 2])
    expect(store.writes).toBe(1)
  })

  test('have at most `maxBatch` charges and the rows of the store in a group', async () => {
    const backend = made({ maxBatch: 3 })
    await Promise.all(Array.from({ length: 7 }, () => take(backend)))
    expect(store.writes).toBe(3)
    store = new MemoryRowStore(undefined, 4)
    const few = made()
    const pairs = Array.from({ length: 9 }, (_, index) => [charge(few, 0.5, 'all'), charge(few, 1, `${index}`)])
    await Promise.all(pairs.map((pair) => few.takeAll(pair.map((one) => ({ ...one, cost: 1 })))))
    expect(store.writes).toBe(3)
    expect(await used(few, 'all')).toBe(9)
    const five = Array.from({ length: 5 }, (_, index) => charge(few, 1, `${index}`))
    await expect(few.takeAll(five)).rejects.toMatchObject({ code: 'ROWS', keyOnly: true, mayHaveCounted: false })
  })
})

describe('several processes', () => {
  const PROCESSES = 8

  test('admit exactly the limit', async () => {
    const { data } = store
    const policy = { ...hour, limit: 500 }
    const takes = Array.from({ length: PROCESSES }, () => {
      const backend = storeBackend(new MemoryRowStore(data))
      return Array.from({ length: 200 }, () => take(backend, 'hot', policy))
    })
    expect((await Promise.all(takes.flat())).filter(Boolean)).toHaveLength(500)
  })

  test('admit exactly the limit of several policies if the store refuses every second write', async () => {
    const { data } = store
    const takes = Array.from({ length: PROCESSES }, () => {
      const own = new MemoryRowStore(data)
      const write = own.write.bind(own)
      own.write = async (...args) => own.writes++ % 2 === 1 && write(...args)
      const backend = storeBackend(own)
      return Array.from({ length: 20 }, async () => {
        const { verdicts } = await backend.takeAll([charge(backend), charge(backend, 1, 'a', minute)])
        return verdicts.every(({ allowed }) => allowed)
      })
    })
    expect((await Promise.all(takes.flat())).filter(Boolean)).toHaveLength(LIMIT)
    const backend = made()
    expect([await used(backend), await used(backend, 'a', minute)]).toEqual([LIMIT, LIMIT])
  })

  test('apply a refund with an idempotency key once', async () => {
    const [one, other] = [made(), storeBackend(new MemoryRowStore(store.data))]
    const { takenAt } = await one.takeAll([charge(one, 5)])
    const moment = { idempotencyKey: { id: 'refund 1', issuedAt: systemClock.now() } }
    const refund = (backend: Backend<Promise<Answer>>): Promise<Answer> =>
      backend.adjustAll([charge(backend, -2)], takenAt, moment)
    await Promise.all([refund(one), refund(one), refund(other)])
    await refund(other)
    expect(await used(one)).toBe(3)
  })

  test('have separate counts with different prefixes', async () => {
    const [one, other] = [made(), made({ prefix: 'other' })]
    await take(one)
    expect([await used(one), await used(other)]).toEqual([1, 0])
    expect([made().identity === one.identity, other.identity === one.identity]).toEqual([true, false])
  })
})

describe('a secret', () => {
  test('hides client keys from the store', async () => {
    const backend = made({ secret: 'a secret of the fleet' })
    await take(backend, 'client@example.com')
    expect([...store.data.rows.keys()].filter((key) => /client|example/.test(key))).toEqual([])
    expect(await used(backend, 'client@example.com')).toBe(1)
    expect(await used(made(), 'client@example.com')).toBe(0)
  })
})

describe('the time of the counts', () => {
  test("is the store's clock, which is asked rarely", async () => {
    let asked = 0
    const aheadMs = 3_600_000
    const timed = Object.assign(store, {
      now: async () => {
        asked++
        return systemClock.wall() + aheadMs
      },
    })
    const backend = storeBackend(timed)
    for (let one = 0; one < 20; one++) await take(backend, `key ${one}`, minute)
    const { takenAt } = await backend.takeAll([charge(backend)], within(10_000))
    expect(Math.abs(takenAt - aheadMs - systemClock.wall())).toBeLessThan(1_000)
    expect(asked).toBe(1)
  })

  test('is the clock of the process if the store has none', async () => {
    const backend = made()
    const { takenAt } = await backend.takeAll([charge(backend)])
    expect(Math.abs(takenAt - systemClock.wall())).toBeLessThan(1_000)
  })
})

describe('rows', () => {
  test('are kept as long as they hold units, and not much longer', async () => {
    const ttls: number[] = []
    const write = store.write.bind(store)
    store.write = (changes, options) => {
      ttls.push(options.ttlMs)
      return write(changes, options)
    }
    const backend = made()
    await take(backend, 'a', minute)
    expect(ttls).toHaveLength(1)
    expect(ttls[0]).toBeGreaterThanOrEqual(60_000)
    expect(ttls[0]).toBeLessThanOrEqual(130_000)
  })
})
