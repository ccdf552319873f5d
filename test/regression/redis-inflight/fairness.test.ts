import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { InflightBackend, Permit, ScriptRunner } from '@sluice/limiter-core'
import { redisInflight, scriptRunner } from '@sluice/redis'
import { eachSeed, FakeClock } from '@sluice/testkit'
import { fairness, maxMinShares } from '../../redis/inflight/fairness.ts'
import { eventually } from '../../redis/inflight/fleet.ts'
import { contendInFakeTime } from '../../redis/inflight/simulated-contention.ts'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'

const redis = redisClientForTests()
let runner: ScriptRunner

beforeAll(async () => {
  runner = scriptRunner(redis.client)
})

beforeEach(() => redis.client.flushall())

describe('tasks of four processes that compete for a cap', () => {
  test.each([
    { tasks: [10, 10, 10, 10], limit: 3 },
    { tasks: [2, 8, 8, 30], limit: 3 },
    { tasks: [10, 10, 10, 10], limit: 12 },
    { tasks: [2, 8, 8, 30], limit: 12 },
  ])('$tasks for $limit permits: all processes get their share, with no more calls than requests', ({ tasks, limit }) =>
    eachSeed(1, async (random) => {
      const work = { tasks, limit, ms: 800, holdMs: 10, retryMs: 5 }
      const { permits, asks, calls, most } = await contendInFakeTime(runner, random, work)
      const shares = maxMinShares(tasks, limit)
      expect(fairness(permits)).toBeGreaterThan(0.9)
      expect(fairness(permits.map((got, at) => got / shares[at]))).toBeGreaterThan(0.9)
      expect(most).toBe(limit)
      expect(calls / asks).toBeLessThan(0.85)
    }),
  )
})

/** Two processes with a shared clock. */
function scene(limit: number) {
  const clock = new FakeClock({ nowMs: 1_000_000 })
  const options = { clock, serverTime: () => clock.now(), deadlineMs: 10_000, leaseMs: 60_000 }
  const [a, b] = [redisInflight(redis.client, options), redisInflight(redis.client, options)]
  const cap = { name: 'cap', limit }
  const ask = async (process: InflightBackend, weight = 1): Promise<Permit | undefined> => {
    const answer = await process.acquire('k', { cap, weight })
    return 'release' in answer ? answer : undefined
  }
  const held = async (process: InflightBackend, weight = 1): Promise<Permit> => {
    const permit = await ask(process, weight)
    if (!permit) throw new Error('expected a place')
    return permit
  }
  /** Makes the given number of denied requests, some time apart. */
  const waits = async (process: InflightBackend, times: number, everyMs: number, weight = 1): Promise<void> => {
    for (let time = 0; time < times; time++) {
      clock.advance(everyMs)
      expect(await ask(process, weight)).toBeUndefined()
    }
  }
  return { clock, a, b, ask, held, waits, count: () => b.count?.('k', cap) }
}

describe('a permit that is released and requested in one turn', () => {
  test('goes to the process that waits for it', async () => {
    const { a, b, ask, held, waits } = scene(1)
    const permit = await held(a)
    await waits(b, 2, 10)
    permit.release()
    expect(await ask(a)).toBeUndefined()
    expect(await ask(b)).toBeDefined()
  })

  test('stays in its process if the other process made only one request', async () => {
    const { a, b, ask, held, waits } = scene(1)
    const permit = await held(a)
    await waits(b, 1, 10)
    permit.release()
    expect(await ask(a)).toBeDefined()
  })

  test('stays in its process if the last request of the other process was long ago', async () => {
    const { clock, a, b, ask, held, waits } = scene(1)
    const permit = await held(a)
    await waits(b, 3, 10)
    clock.advance(30)
    permit.release()
    expect(await ask(a)).toBeDefined()
  })
})

describe('a permit that is reserved for a process which makes no more requests', () => {
  test('is free again after a quarter of its hold time', async () => {
    const { clock, a, b, ask, held, waits } = scene(1)
    const permit = await held(a)
    await waits(b, 2, 400)
    permit.release()
    expect(await ask(a)).toBeUndefined()
    clock.advance(190)
    expect(await ask(a)).toBeUndefined()
    clock.advance(20)
    expect(await ask(a)).toBeDefined()
  })

  test('leaves no data behind', async () => {
    const { clock, a, b, held, waits, count } = scene(1)
    const permit = await held(a)
    await waits(b, 3, 10)
    const [name] = await redis.client.keys('*')
    expect(await redis.client.hlen(name)).toBe(2)
    clock.advance(2_000)
    permit.release()
    await eventually(count, 0)
    expect(await redis.client.keys('*')).toEqual([])
  })
})

describe('a request with a large weight', () => {
  test('collects permits while another process releases and requests single ones', async () => {
    const { clock, a, b, ask, held, waits } = scene(4)
    const light = [await held(a), await held(a), await held(a), await held(a)]
    await waits(b, 2, 10, 3)
    for (const permit of light.slice(0, 3)) {
      clock.advance(10)
      expect(await ask(b, 3)).toBeUndefined()
      permit.release()
      expect(await ask(a)).toBeUndefined()
    }
    expect(await ask(b, 3)).toBeDefined()
    expect(await ask(a)).toBeUndefined()
  })
})
