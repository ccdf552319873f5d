import { beforeEach, describe, expect, test } from '@jest/globals'
import type { Answer, Backend } from '@sluice/limiter-core/backend'
import { storeBackend } from '@sluice/stores'
import { backendContract, FakeClock } from '@sluice/testkit'
import { charge, LIMIT, minute, take, used } from './bench.ts'
import { MemoryRowStore } from './memory-row-store.ts'

/** Rows in memory, in a runtime that ends calls together with the request in which they began. */
class LedRowStore extends MemoryRowStore {
  readonly kept: Promise<unknown>[] = []

  keepRunning = (work: Promise<unknown>): void => {
    this.kept.push(work)
  }
}

let store: LedRowStore
let backend: Backend<Promise<Answer>>

beforeEach(() => {
  store = new LedRowStore()
  backend = storeBackend(store)
})

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

describe('storeBackend on a store that keeps requests running', () => {
  backendContract(
    { describe, test },
    (clock) => storeBackend(new LedRowStore(), { clock, serverTime: () => clock.now() }),
    { histories: 3 },
  )

  test('decides requests that wait for a key together', async () => {
    const admitted = await Promise.all(Array.from({ length: 1_000 }, () => take(backend)))
    expect(admitted.filter(Boolean)).toHaveLength(LIMIT)
    // the first request does not wait
    expect([store.reads, store.writes]).toEqual([2, 2])
    await Promise.all(store.kept)
    expect(store.kept).toHaveLength(1_000)
  })

  test('decides requests of several policies that share a key in turn', async () => {
    const both = [charge(backend), charge(backend, 1, 'a', minute)]
    const takes = Array.from({ length: 20 }, (_, index) => backend.takeAll(index % 2 === 0 ? both : both.slice(1)))
    const verdicts = (await Promise.all(takes)).map((answer) => answer.verdicts.every(({ allowed }) => allowed))
    expect(verdicts.filter(Boolean)).toHaveLength(minute.limit)
    expect([await used(backend), await used(backend, 'a', minute)]).toEqual([5, 10])
  })

  test('does not need a request to decide', async () => {
    store.keepRunning = () => {
      throw new Error('not within a request')
    }
    expect(await take(storeBackend(store))).toBe(true)
  })

  test('decides later requests for a key whose group the runtime has ended', async () => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const timed = storeBackend(store, { clock })
    // neither the call nor its timer continues
    const after = clock.after
    clock.after = () => () => {}
    store.before = () => new Promise(() => {})
    void take(timed)
    await turn()
    clock.after = after
    store.before = () => {}
    const later = take(timed)
    await turn()
    expect(store.reads).toBe(1)
    clock.advance(5_000)
    expect(await later).toBe(true)
    expect(await take(timed)).toBe(true)
  })

  test('leaves a request waiting whose other key is in use', async () => {
    let release = (): void => {}
    store.before = () => new Promise<void>((resolve) => (release = resolve))
    const slow = take(backend, 'b')
    await turn()
    store.before = () => {}
    let isAnswered = false
    const both = backend.takeAll([charge(backend, 1, 'b'), charge(backend)]).then(() => {
      isAnswered = true
    })
    expect(await take(backend)).toBe(true)
    expect(isAnswered).toBe(false)
    release()
    await Promise.all([slow, both])
    expect([await used(backend), await used(backend, 'b')]).toEqual([2, 2])
  })

  test('keeps requests of other keys apart', async () => {
    let release = (): void => {}
    store.before = () => new Promise<void>((resolve) => (release = resolve))
    const slow = take(backend, 'slow')
    await turn()
    store.before = () => {}
    expect(await take(backend, 'fast')).toBe(true)
    release()
    expect(await slow).toBe(true)
  })
})
