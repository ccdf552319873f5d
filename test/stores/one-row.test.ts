import { beforeEach, describe, expect, test } from '@jest/globals'
import { createLimiter, memoryBackend, type PolicyInput } from '@sluice/limiter-core'
import { type Answer, type Backend, type Moment, systemClock } from '@sluice/limiter-core/backend'
import { storeBackend } from '@sluice/stores'
import { charge, minute, take, used } from './bench.ts'
import { MemoryRowStore } from './memory-row-store.ts'

const burst: PolicyInput = { name: 'burst', limit: 10, window: '1s' }
const daily: PolicyInput = { name: 'daily', limit: 100, window: '1d' }

let store: MemoryRowStore
let backend: Backend<Promise<Answer>>

beforeEach(() => {
  store = new MemoryRowStore(undefined, 1)
  backend = storeBackend(store, { name: 'sole' })
})

const withId = (id: string): Moment => ({ idempotencyKey: { id, issuedAt: systemClock.now() } })

describe('a limiter on a store that writes one row at a time', () => {
  test.each<[string, PolicyInput[]]>([
    ['two policies', [burst, daily]],
    ['a ban', [{ ...daily, ban: { after: 3, within: '1m', for: '1h' } }]],
  ])('with %s is not created', (_, policies) => {
    const message = 'expected at most 1, received 2'
    expect(() => createLimiter({ policies, backend })).toThrow(
      expect.objectContaining({ code: 'SLUICE_BAD_POLICY', message: expect.stringContaining(message) }),
    )
    // nothing has stayed open
    createLimiter({ policies: [daily], backend }).close()
  })

  test('counts several policies on a backend for each', async () => {
    const other = storeBackend(new MemoryRowStore(store.data, 1))
    const limiter = createLimiter({ policies: [{ ...burst, backend: other }, daily], backend, deadlineMs: 10_000 })
    const { verdicts } = await limiter.take('a')
    expect(verdicts.map(({ remaining }) => remaining)).toEqual([9, 99])
    await limiter.close()
  })

  test('counts policies in memory beside its policy, and one policy in each plan', async () => {
    const limiter = createLimiter({
      policies: [{ ...burst, backend: memoryBackend() }, daily],
      backend,
      deadlineMs: 10_000,
    })
    expect((await limiter.take('a')).allowed).toBe(true)
    await limiter.close()
  })

  test('refunds and resets its policy', async () => {
    const limiter = createLimiter({ policies: [daily], backend, deadlineMs: 10_000 })
    const { takenAt } = await limiter.take('a', 5)
    await limiter.charge('a', -2, takenAt)
    expect((await limiter.peek('a')).verdicts[0].remaining).toBe(97)
    await limiter.reset('a')
    expect((await limiter.peek('a')).verdicts[0].remaining).toBe(100)
    await limiter.close()
  })
})

describe('adjustments with an idempotency key, without a row for it', () => {
  const adjusted = async (cost: number, moment: Moment): Promise<number> => {
    await backend.adjustAll([charge(backend, cost)], Number.POSITIVE_INFINITY, moment)
    return used(backend)
  }

  test('are applied once if their process repeats them', async () => {
    await backend.takeAll([charge(backend, 5)])
    for (const [id, cost, left] of [
      ['refund', -2, 3],
      ['charge', 4, 7],
    ] as const) {
      expect(await adjusted(cost, withId(id))).toBe(left)
      expect(await adjusted(cost, withId(id))).toBe(left)
    }
  })

  test.each([
    ['a refund is not repeated', -2, 3],
    ['a charge is repeated', 2, 9],
  ])('whose answer was lost admit no units above the limit: %s', async (_, cost, left) => {
    await backend.takeAll([charge(backend, 5)])
    const write = store.write.bind(store)
    store.write = async (...args) => {
      await write(...args)
      store.write = write
      throw new Error('connection lost')
    }
    await expect(adjusted(cost, withId('lost'))).rejects.toMatchObject({ mayHaveCounted: true })
    expect(await adjusted(cost, withId('lost'))).toBe(left)
    expect(await adjusted(cost, withId('lost'))).toBe(left)
  })

  test('are repeated if the store was not called', async () => {
    await backend.takeAll([charge(backend, 5)])
    store.before = () => {
      throw new Error('no connection')
    }
    await expect(adjusted(-2, withId('unsent'))).rejects.toMatchObject({ mayHaveCounted: false })
    store.before = () => {}
    expect(await adjusted(-2, withId('unsent'))).toBe(3)
  })
})

test('resets of several keys are one write each', async () => {
  for (const key of ['a', 'b']) await take(backend, key)
  await take(backend, 'a', minute)
  await backend.resetAll([charge(backend, 0, 'a'), charge(backend, 0, 'b'), charge(backend, 0, 'a', minute)])
  expect(await Promise.all([used(backend, 'a'), used(backend, 'b'), used(backend, 'a', minute)])).toEqual([0, 0, 0])
})
