import { randomUUID } from 'node:crypto'
import { expect, jest, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { redisCounters } from '@sluice/counters/redis'
import { scriptRunner } from '@sluice/redis'
import { eachSeed, FakeClock } from '@sluice/testkit'
import { turn, watchedRedis } from '../../redis/watched-redis.ts'
import { WrongRunner } from '../../redis/wrong-runner.ts'

const RUNS = 12
const WAIT_MS = 1_000
const STEP_MS = 100

jest.setTimeout(300_000)

const redis = watchedRedis()

test('counters in Redis answer in time whatever Redis replies, and count exactly afterwards', async () => {
  await eachSeed(RUNS, async (random) => {
    const clock = new FakeClock()
    const runner = new WrongRunner({ runner: scriptRunner(redis.client), random, clock, lateMs: 2 * WAIT_MS })
    const ledger = new MemoryLedger(clock)
    const options = { name: 'wrong', ledger, prefix: randomUUID(), partitions: 2, clock, waitMs: WAIT_MS, flushMs: 500 }
    const counters = redisCounters(runner, options)
    const passes = async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += STEP_MS) {
        clock.advance(STEP_MS)
        do await turn()
        while (runner.underWay > 0)
      }
    }
    /** Waits for a call, which must settle soon after `waitMs`. Returns undefined if it rejects. */
    const settled = async <T>(call: Promise<T>): Promise<T | undefined> => {
      const startedAt = clock.now()
      let isSettled = false
      const outcome = call.catch((error: { readonly code?: unknown }) => {
        expect(error.code).toBe('SLUICE_COUNTERS_UNAVAILABLE')
        return undefined
      })
      void outcome.finally(() => {
        isSettled = true
      })
      for (await turn(); !isSettled; await passes(STEP_MS)) {
        if (clock.now() - startedAt > 5 * WAIT_MS) throw new Error('no answer within five times waitMs')
      }
      return outcome
    }
    runner.share = random.pick([0.3, 0.7, 1])
    for (let n = 0; n < 40; n++) {
      const id = random.pick(['a', 'b', 'c'])
      const receipt = await settled(counters.increment(id, 1 + random.whole(5)))
      if (receipt) expect(Number.isSafeInteger(receipt.value)).toBe(true)
      const reading = await settled(counters.read(id))
      if (reading) expect(Number.isSafeInteger(reading.value)).toBe(true)
      if (random.whole(4) === 0) await passes(random.whole(1_500))
    }
    runner.share = 0
    await passes(5_000)
    for (let n = 1; n <= 10; n++) expect((await settled(counters.increment('fresh', 3)))?.value).toBe(3 * n)
    await settled(counters.flush())
    const table = ledger.open('wrong')
    expect((await table.read(['fresh'])).entries).toMatchObject([{ id: 'fresh', value: 30 }])
    const known = await table.list('', { after: undefined, limit: 100 })
    expect(known.filter(({ value }) => !Number.isSafeInteger(value))).toEqual([])
    await settled(counters.close())
    expect(clock.pending).toBe(0)
  })
  await turn()
  expect(redis.lost).toEqual([])
})
