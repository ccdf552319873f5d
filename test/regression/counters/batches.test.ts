import { describe, expect, test } from '@jest/globals'
import { type CounterLedger, createCounters, MemoryLedger } from '@sluice/counters'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import { FakeClock } from '@sluice/testkit'
import { HeldLedger, type TableCall } from '../../counters/fuzz/intercepted-ledger.ts'

const turn = (): Promise<void> => new Promise((resolve) => afterThisTurn(resolve))

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn()
}

/** A ledger that answers in the next turn, with the faults that a test sets. */
function slowLedger() {
  const clock = new FakeClock()
  const gates = new Map<TableCall, () => Promise<void>>()
  const ledger = new HeldLedger(clock, {
    before: async (call) => {
      await turn()
      await gates.get(call)?.()
    },
  })
  return { clock, ledger, gates, table: ledger.plain.open('default') }
}

/** Whether the promise settles within the given number of turns. */
async function settles(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false
  promise.then(
    () => {
      isSettled = true
    },
    () => {
      isSettled = true
    },
  )
  for (let i = 0; i < 200 && !isSettled; i++) await turn()
  return isSettled
}

/** Counts continuously until it is stopped. */
function load(count: () => Promise<unknown>): () => Promise<void> {
  let isOver = false
  const loop = async (): Promise<void> => {
    while (!isOver) await count()
  }
  const done = Promise.all([loop(), turn().then(loop), turns(2).then(loop)])
  return async () => {
    isOver = true
    await done
  }
}

describe('batches of counters', () => {
  for (const durable of [true, false]) {
    for (const [name, call] of [
      ['a sum', (counters) => counters.aggregate('')],
      ['a read of the ledger', (counters) => counters.read('a', { maxAgeMs: 0 })],
      ['a reset', (counters) => counters.reset('a')],
    ] as const satisfies readonly (readonly [
      string,
      (counters: ReturnType<typeof createCounters>) => Promise<unknown>,
    ])[]) {
      test(`${name} is answered while other calls keep counting, durable: ${durable}`, async () => {
        const { clock, ledger } = slowLedger()
        const counters = createCounters({ ledger, clock, maxBatch: 2 })
        const stop = load(async () => {
          await counters.increment('a', 1, { durable })
          // a durable call waits a turn anyway
          if (!durable) await turn()
        })
        await turns(10)
        expect(await settles(call(counters))).toBe(true)
        await stop()
        await counters.close()
      })
    }
  }

  test('plain units are written even if each batch has a durable unit of the same id', async () => {
    const { clock, ledger, table } = slowLedger()
    const counters = createCounters({ ledger, clock })
    let durable = 0
    const stop = load(async () => {
      await counters.increment('a', 1, { durable: true })
      durable++
    })
    await turns(10)
    await counters.increment('a', 1_000_000)
    await turns(100)
    expect((await table.read(['a'])).entries[0]?.value).toBeGreaterThan(1_000_000)
    await stop()
    await counters.close()
    expect((await table.read(['a'])).entries[0]?.value).toBe(1_000_000 + durable)
  })

  test('a process with batches of one id continues while that id is reset', async () => {
    const { clock, ledger, gates } = slowLedger()
    const counters = createCounters({ ledger, clock, maxBatch: 1 })
    let asks = 0
    gates.set('clear', async () => {
      await counters.increment('a')
      asks++
      await turns(3)
    })
    await counters.increment('a')
    await counters.reset('a')
    expect(asks).toBe(1)
    await counters.close()
  })

  test('a group that is counted late, after its call was rejected, stays removed by a reset in between', async () => {
    const { clock, ledger, gates, table } = slowLedger()
    const counters = createCounters({ ledger, clock, waitMs: 100, flushMs: 10_000 })
    await counters.read('a')
    gates.set('apply', () => Promise.reject(new Error('away')))
    const counted = counters.increment('a', 5, { durable: true })
    counted.catch(() => {})
    await turns(3)
    clock.advance(100)
    await expect(counted).rejects.toMatchObject({ code: 'SLUICE_COUNTERS_UNAVAILABLE' })
    await turns(3)
    clock.advance(10)
    await table.clear('a', { deleted: false })
    clock.advance(10)
    gates.clear()
    await counters.flush()
    expect((await table.read(['a'])).entries[0]?.value).toBe(0)
    await counters.close()
  })

  test('capacity is reserved for every undecided unit that may count', async () => {
    const { clock, ledger } = slowLedger()
    const counters = createCounters({ ledger, clock })
    const most = Number.MAX_SAFE_INTEGER
    await counters.increment('other', 1, { token: 't' })
    const reused = counters.incrementMany({ a: -most }, { token: 't' })
    reused.catch(() => {})
    const [up, upAgain] = [1, 2].map(() => counters.increment('a', most, { durable: true }))
    await expect(Promise.allSettled([reused, up, upAgain])).resolves.toMatchObject([
      { status: 'rejected', reason: { code: 'SLUICE_TOKEN_REUSED' } },
      { status: 'fulfilled', value: { value: most } },
      { status: 'rejected', reason: { code: 'SLUICE_COUNTER_RANGE' } },
    ])
    await counters.close()
  })

  test('an entry stays while a group of zero units waits for it', async () => {
    const { clock, ledger, gates, table } = slowLedger()
    const counters = createCounters({ ledger, clock, maxEntries: 1 })
    await counters.read('a')
    let release = (): void => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    gates.set('apply', () => held)
    const receipt = counters.increment('a', 0, { durable: true })
    await turns(3)
    for (const id of ['b', 'c', 'd']) await counters.read(id)
    await table.apply({ writer: 'w', number: 1, deltas: [{ id: 'a', amount: 7, ageMs: 0 }], groups: [] })
    release()
    expect((await receipt).value).toBe(7)
    await counters.close()
  })

  test('closing while a reset fails writes what the reset left', async () => {
    const { clock, ledger, gates, table } = slowLedger()
    const counters = createCounters({ ledger, clock })
    await counters.increment('a', 3)
    gates.set('clear', async () => {
      await turns(20)
      throw new Error('away')
    })
    const reset = counters.reset('a')
    reset.catch(() => {})
    await turns(3)
    await counters.close()
    await expect(reset).rejects.toMatchObject({ code: 'SLUICE_COUNTERS_UNAVAILABLE' })
    expect((await table.read(['a'])).entries[0]?.value).toBe(3)
  })

  test('units counted after a reset without an answer are kept, whenever that reset was applied', async () => {
    const { clock, ledger, gates, table } = slowLedger()
    const counters = createCounters({ ledger, clock, flushMs: 10_000 })
    await counters.increment('a', 3)
    clock.advance(10)
    gates.set('clear', async () => {
      await table.clear('a', { deleted: false })
      throw new Error('lost')
    })
    await expect(counters.reset('a')).rejects.toMatchObject({ code: 'SLUICE_COUNTERS_UNAVAILABLE' })
    clock.advance(10)
    await counters.increment('a', 4)
    await counters.flush()
    expect((await table.read(['a'])).entries[0]?.value).toBe(4)
    expect((await counters.read('a')).value).toBe(4)
    await counters.close()
  })

  test('a late answer does not replace units that were counted meanwhile', async () => {
    const clock = new FakeClock()
    let answer: (() => void) | undefined
    const ledger = new HeldLedger(clock, {
      after: (call) => {
        if (call !== 'read' || answer) return undefined
        return new Promise((resolve) => {
          answer = resolve
        })
      },
    })
    const counters = createCounters({ ledger, clock, maxEntries: 1 })
    const read = counters.read('a')
    await turns(3)
    await counters.increment('a', 5, { durable: true })
    for (const id of ['b', 'c', 'd']) {
      await counters.read(id)
      await turns(2)
    }
    answer?.()
    await read
    expect((await counters.read('a')).value).toBe(5)
    await counters.close()
  })

  test('new ids are read together if the ledger is slow, however many there are', async () => {
    const { clock, ledger, gates } = slowLedger()
    const counters = createCounters({ ledger, clock })
    let [reading, most, reads] = [0, 0, 0]
    gates.set('read', async () => {
      reads++
      most = Math.max(most, ++reading)
      await turns(20)
      reading--
    })
    const receipts: Promise<unknown>[] = []
    for (let index = 0; index < 100; index++) {
      receipts.push(counters.increment(`new ${index}`))
      await turn()
    }
    expect(await Promise.all(receipts)).toHaveLength(100)
    expect(most).toBeLessThanOrEqual(4)
    expect(reads).toBeLessThan(50)
    await counters.close()
  })

  test('an id that waits for other reads is rejected after waitMs', async () => {
    const { clock, ledger, gates } = slowLedger()
    const counters = createCounters({ ledger, clock, waitMs: 100 })
    gates.set('read', () => new Promise(() => {}))
    const refused = Promise.allSettled(
      Array.from({ length: 10 }, async (_, index) => {
        await turns(index)
        await counters.increment(`new ${index}`)
      }),
    )
    await turns(50)
    clock.advance(100)
    expect((await refused).map((one) => one.status === 'rejected' && one.reason.code)).toEqual(
      Array(10).fill('SLUICE_COUNTERS_UNAVAILABLE'),
    )
    await counters.close()
  })
})

describe('a ledger that was restored from a backup', () => {
  const clock = new FakeClock()

  /** Counters of a process that counted 15 before its ledger was restored to 5. */
  async function countersOfBackup() {
    let current = new MemoryLedger(clock).open('a')
    const ledger: CounterLedger = {
      durable: false,
      close: async () => {},
      open: () => ({
        apply: (batch) => current.apply(batch),
        read: (ids, writer) => current.read(ids, writer),
        list: (prefix, page) => current.list(prefix, page),
        sum: (prefix) => current.sum(prefix),
        clear: (id, options) => current.clear(id, options),
      }),
    }
    const counters = createCounters({ ledger, clock })
    for (let n = 0; n < 3; n++) await counters.increment('a', 5, { durable: true })
    current = new MemoryLedger(clock).open('a')
    await current.apply({ writer: 'w', number: 1, deltas: [{ id: 'a', amount: 5, ageMs: 0 }], groups: [] })
    return counters
  }

  test('determines what readers see', async () => {
    const counters = await countersOfBackup()
    expect((await counters.read('a', { maxAgeMs: 0 })).value).toBe(5)
    await counters.increment('a', 2)
    expect((await counters.read('a')).value).toBe(7)
    await counters.close()
  })

  test.each([true, false])('determines what processes see that only write: durable %s', async (durable) => {
    const counters = await countersOfBackup()
    const { value } = await counters.increment('a', 2, { durable })
    expect(value).toBe(durable ? 7 : 17)
    await counters.flush()
    expect((await counters.increment('a', 1, { durable })).value).toBe(8)
    await counters.close()
  })
})
