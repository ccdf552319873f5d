import { beforeEach, describe, expect, test } from '@jest/globals'
import { type Backend, type Clock, type Decision, type Policy, systemClock } from '@sluice/limiter-core/backend'
import { redisBackend, scriptRunner } from '@sluice/redis'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'
import { chargeOf, hour, minute, remaining } from './charge.ts'
import { ownPrefix } from './own-prefix.ts'
import { RecordingRunner } from './recording-runner.ts'

const redis = redisClientForTests()
let runner: RecordingRunner
let prefix: string
let shiftMs: number
const clock: Clock = { ...systemClock, now: () => systemClock.now() + shiftMs }
let backend: Backend

beforeEach(() => {
  shiftMs = 0
  prefix = ownPrefix()
  runner = new RecordingRunner(scriptRunner(redis.client))
  backend = redisBackend(runner, { prefix, clock })
})

async function takeOne(policy: Policy, key: string, cost = 1, withinMs = 5_000): Promise<Decision> {
  return chargeOf(backend, policy, key).counter.take(key, cost, { deadlineAt: clock.now() + withinMs })
}

describe('a take of one charge', () => {
  test('is one call alone, and shares a call with other takes of its turn', async () => {
    await takeOne(hour, 'a')
    runner.calls.length = 0
    const answers = await Promise.all(['a', 'b', 'a', 'c'].map((key) => takeOne(hour, key, 2)))
    expect(runner.calls.map(({ keys }) => keys.length)).toEqual([1, 3])
    expect(answers.map((answer) => answer.binding.remaining)).toEqual([97, 98, 95, 98])
    expect(answers[0]).toMatchObject({ allowed: true, counted: true, source: 'redis', retryAfterMs: 0 })
  })

  test('is denied with its retry time, which is infinite if it can never fit', async () => {
    await takeOne(minute, 'a', 5)
    const denied = await takeOne(minute, 'a')
    expect(denied).toMatchObject({ allowed: false, counted: true })
    expect(denied.retryAfterMs).toBeGreaterThan(50_000)
    expect((await takeOne(minute, 'b', 6)).retryAfterMs).toBe(Number.POSITIVE_INFINITY)
  })

  test("is sent again if the server's clock was set ahead, and is counted once", async () => {
    await takeOne(hour, 'a')
    runner.calls.length = 0
    shiftMs -= 3_600_000
    expect((await takeOne(hour, 'a')).binding.remaining).toBe(98)
    expect(runner.calls).toHaveLength(2)
    expect(await remaining(backend, hour, 'a')).toBe(98)
  })

  test('that has timed out is not sent, and the next one is sent at once', async () => {
    await takeOne(hour, 'a')
    runner.calls.length = 0
    await expect(takeOne(hour, 'a', 1, -1)).rejects.toMatchObject({ code: 'LATE' })
    expect(runner.calls).toEqual([])
    const taken = takeOne(hour, 'a')
    expect(runner.calls).toHaveLength(1)
    expect((await taken).binding.remaining).toBe(98)
  })

  test('of a key with a foreign value fails alone, and the next one is sent at once', async () => {
    await takeOne(minute, 'a')
    await redis.client.set(`${prefix}:{spoilt}:exact/minute/fixed-window@1/60000`, 'hello')
    await expect(takeOne(minute, 'spoilt')).rejects.toMatchObject({ code: 'WRONGTYPE', keyOnly: true })
    const taken = takeOne(minute, 'a')
    expect((await taken).binding.remaining).toBe(3)
  })
})
