import { describe, expect, test } from '@jest/globals'
import { type CounterLedger, type CounterTable, createCounters, MemoryLedger } from '@sluice/counters'
import { redisCounters } from '@sluice/counters/redis'
import { systemClock } from '@sluice/limiter-core/backend'
import { FakeClock } from '@sluice/testkit'
import { HeldLedger } from '../../counters/fuzz/intercepted-ledger.ts'
import { eventually } from '../../services/eventually.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'

/**
 * A ledger that can forget the progress of its writers, as PostgreSQL does for writers that sent nothing for a week.
 */
class ForgetfulLedger implements CounterLedger {
  readonly durable = false
  readonly #plain = new MemoryLedger(systemClock)
  readonly #forgotten = new Set<string>()
  #writers = new Set<string>()

  open(name: string): CounterTable {
    const table = this.#plain.open(name)
    return {
      apply: (batch) => {
        this.#writers.add(batch.writer)
        this.#forgotten.delete(batch.writer)
        return table.apply(batch)
      },
      read: async (ids, writer = '') => {
        const read = await table.read(ids, writer)
        return this.#forgotten.has(writer) ? { ...read, number: 0 } : read
      },
      list: (prefix, page) => table.list(prefix, page),
      sum: (prefix) => table.sum(prefix),
      clear: (id, options) => table.clear(id, options),
    }
  }

  forget(): void {
    for (const writer of this.#writers) this.#forgotten.add(writer)
    this.#writers = new Set()
  }

  async close(): Promise<void> {}
}

describe('counters in Redis', () => {
  const redis = redisForTests()
  let made = 0

  test('a partition continues if the ledger has forgotten its epoch, as after a week without units', async () => {
    const ledger = new ForgetfulLedger()
    const client = redis.server.client()
    const counters = redisCounters(client, { name: `r${++made}`, ledger, partitions: 1 })
    await counters.increment('a', 3)
    await counters.flush()
    ledger.forget()
    expect((await counters.increment('b', 4)).value).toBe(4)
    expect((await counters.read('a')).value).toBe(3)
    expect(await counters.aggregate('')).toBe(7)
    await counters.close()
    client.disconnect()
  })

  test('a total that is only read is read again after expireMs', async () => {
    const ledger = new MemoryLedger(systemClock)
    const client = redis.server.client()
    const name = `r${++made}`
    const counters = redisCounters(client, { name, ledger, partitions: 1, expireMs: 200 })
    const besides = createCounters({ name, ledger })
    await counters.read('a')
    await besides.increment('a', 5, { durable: true })
    await eventually(async () => (await counters.read('a')).value === 5, { what: 'the new total', timeoutMs: 5_000 })
    await besides.close()
    await counters.close()
    client.disconnect()
  })

  test('closing while the ledger is unavailable ends the timers of calls that bypassed Redis', async () => {
    const clock = new FakeClock()
    const away = (): never => {
      throw new Error('away')
    }
    let isAway = false
    let attempts = 0
    const ledger = new HeldLedger(systemClock, {
      before: (call) => {
        if (!isAway || call !== 'apply') return undefined
        attempts++
        return away()
      },
    })
    const client = redis.server.client()
    const counters = redisCounters(client, { name: `r${++made}`, ledger, clock, partitions: 1, waitMs: '1m' })
    await counters.increment('a')
    isAway = true
    const lost = counters.increment('a', 1, { token: 't' })
    lost.catch(() => {})
    await eventually(async () => attempts > 0, { what: 'an attempt' })
    const closed = counters.close()
    closed.catch(() => {})
    await eventually(
      async () => {
        clock.advance(10_000)
        return clock.pending === 0
      },
      { what: 'the end of all timers', timeoutMs: 5_000 },
    )
    await expect(closed).rejects.toMatchObject({ code: 'SLUICE_COUNTERS_UNAVAILABLE' })
    await expect(lost).rejects.toMatchObject({ code: 'SLUICE_COUNTERS_UNAVAILABLE' })
    client.disconnect()
  })

  test('durable calls of a partition read the ledger together, however many there are', async () => {
    let [reading, most] = [0, 0]
    const ledger = new HeldLedger(systemClock, {
      before: async (call) => {
        if (call !== 'read') return
        most = Math.max(most, ++reading)
        await new Promise<void>((resolve) => systemClock.after(20, resolve))
        reading--
      },
    })
    const client = redis.server.client()
    const counters = redisCounters(client, { name: `r${++made}`, ledger, partitions: 1 })
    const ids = Array.from({ length: 30 }, (_, index) => `id ${index}`)
    await counters.incrementMany(
      ids.map((id) => [id, 1]),
      { durable: true },
    )
    const receipts: Promise<unknown>[] = []
    for (const id of ids) {
      receipts.push(counters.increment(id, 1, { durable: true }))
      await new Promise<void>((resolve) => systemClock.after(1, resolve))
    }
    expect(await Promise.all(receipts)).toEqual(ids.map(() => ({ value: 2, durable: false, counted: true })))
    // of totals that Redis needs
    expect(most).toBe(1)
    await counters.close()
    client.disconnect()
  })
})
