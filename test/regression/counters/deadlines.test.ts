import { describe, expect, test } from '@jest/globals'
import { createCounters, MemoryLedger } from '@sluice/counters'
import { postgresLedger } from '@sluice/counters/postgres'
import { redisCounters } from '@sluice/counters/redis'
import type { Counters } from '@sluice/fleet/backend'
import type { SqlRunner } from '@sluice/limiter-core'
import { systemClock } from '@sluice/limiter-core/backend'
import { FakeClock } from '@sluice/testkit'
import { HeldLedger, type TableCall } from '../../counters/fuzz/intercepted-ledger.ts'
import { eventually } from '../../services/eventually.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'

const WAIT_MS = 100

/** A ledger in which each call waits until the test releases it. */
function stoppedLedger() {
  const waiting: (readonly [call: TableCall, goOn: () => void])[] = []
  const ledger = new HeldLedger(systemClock, {
    before: (call) => new Promise((resolve) => waiting.push([call, resolve])),
  })
  const waitsFor = (call: TableCall) =>
    eventually(async () => waiting[0]?.[0] === call, { what: `a call of ${call}`, timeoutMs: 5_000 })
  return { ledger, waitsFor, goOn: () => waiting.shift()?.[1]() }
}

/** The error of a rejected call, once it rejects. */
function rejectionOf(call: Promise<unknown>): { code?: unknown } {
  const rejection: { code?: unknown } = {}
  call.catch(({ code }: { readonly code?: unknown }) => {
    rejection.code = code
  })
  return rejection
}

const rejected = (rejection: { code?: unknown }) =>
  eventually(async () => rejection.code !== undefined, { what: 'a rejection', timeoutMs: 5_000 })

describe('an increment that waits for the ledger ends after waitMs', () => {
  const redis = redisForTests()

  const inRedis = (options: Parameters<typeof redisCounters>[1], use: (counters: Counters) => Promise<void>) => {
    const client = redis.server.client()
    return use(redisCounters(client, options)).finally(() => client.disconnect())
  }

  test('even if the ledger took most of that time to read', async () => {
    const clock = new FakeClock()
    const { ledger, waitsFor, goOn } = stoppedLedger()
    const counters = createCounters({ ledger, clock, waitMs: WAIT_MS })
    const rejection = rejectionOf(counters.increment('a', 1, { durable: true }))
    await waitsFor('read')
    clock.advance(WAIT_MS - 20)
    goOn()
    await waitsFor('apply')
    clock.advance(20)
    await rejected(rejection)
    expect(rejection.code).toBe('SLUICE_COUNTERS_UNAVAILABLE')
  })

  test('before Redis, for an id that Redis does not have either', async () => {
    const clock = new FakeClock()
    const { ledger, waitsFor } = stoppedLedger()
    await inRedis({ name: 'unknown', ledger, clock, waitMs: WAIT_MS }, async (counters) => {
      const rejection = rejectionOf(counters.increment('a', 1, { token: 't' }))
      await waitsFor('read')
      clock.advance(WAIT_MS)
      await rejected(rejection)
      expect(rejection.code).toBe('SLUICE_COUNTERS_UNAVAILABLE')
    })
  })

  test('before Redis, and is answered if only later steps take longer', async () => {
    const clock = new FakeClock()
    const { ledger, waitsFor, goOn } = stoppedLedger()
    await inRedis({ name: 'counted', ledger, clock, waitMs: WAIT_MS }, async (counters) => {
      const receipt = counters.increment('a', 1, { token: 't' })
      // the calls of Redis, and of the call that bypasses it
      for (const call of ['read', 'read', 'apply'] as const) {
        await waitsFor(call)
        goOn()
      }
      await waitsFor('read')
      clock.advance(WAIT_MS)
      expect(await receipt).toEqual({ value: 1, durable: false, counted: true })
    })
  })

  test('before Redis, if Redis needs totals repeatedly', async () => {
    const clock = new FakeClock()
    const { ledger, waitsFor, goOn } = stoppedLedger()
    await inRedis({ name: 'again', ledger, clock, waitMs: WAIT_MS, partitions: 1 }, async (counters) => {
      const rejection = rejectionOf(counters.increment('a'))
      for (let reads = 0; reads < 2; reads++) {
        await waitsFor('read')
        clock.advance(WAIT_MS * 0.6)
        if (reads === 0) {
          // the totals that were read belong to an old epoch
          await redis.server.client().flushall()
          goOn()
        }
      }
      await rejected(rejection)
      expect(rejection.code).toBe('SLUICE_COUNTERS_UNAVAILABLE')
    })
  })

  test('and so does every other call while Redis does not answer, whatever its client', async () => {
    const client = redis.server.client()
    const ledger = new MemoryLedger(systemClock)
    const counters = redisCounters(client, { name: 'stopped', ledger, waitMs: 5 * WAIT_MS, flushMs: '1h' })
    await counters.increment('a', 5)
    redis.server.pause()
    try {
      for (const call of [() => counters.increment('a'), () => counters.flush()]) {
        const rejection = rejectionOf(call())
        await rejected(rejection)
        expect(rejection.code).toBe('SLUICE_COUNTERS_UNAVAILABLE')
      }
      // calls that bypass Redis do not need an answer from it
      expect((await counters.increment('a', 1, { token: 't' })).counted).toBe(true)
    } finally {
      redis.server.resume()
    }
    await counters.flush()
    await counters.close()
    client.disconnect()
  })
})

/** A PostgreSQL whose first answer never arrives, as on a connection that died silently. */
test('counters continue if the first statement of a process is never answered', async () => {
  let statements = 0
  const sql: SqlRunner = {
    query: async (text) => {
      if (++statements === 1) return new Promise(() => {})
      return { rows: text.includes('counter_version') ? [{ version: 3, reads_from: 2 }] : [] }
    },
  }
  const counters = createCounters({ ledger: postgresLedger(sql), waitMs: WAIT_MS })
  await expect(counters.read('a')).rejects.toMatchObject({ code: 'SLUICE_COUNTERS_UNAVAILABLE' })
  expect((await counters.read('a')).value).toBe(0)
  await counters.close()
})
