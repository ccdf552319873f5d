import { beforeEach, describe, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { type Answer, type Backend, type Clock, systemClock } from '@sluice/limiter-core/backend'
import { redisBackend, scriptRunner } from '@sluice/redis'
import { FakeClock, until } from '@sluice/testkit'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'
import { chargeOf, hour, remaining } from './charge.ts'
import { ownPrefix } from './own-prefix.ts'
import { RecordingRunner } from './recording-runner.ts'

const HOUR_MS = 3_600_000

const redis = redisClientForTests()
let runner: RecordingRunner
let shiftMs: number
const clock: Clock = { ...systemClock, now: () => systemClock.now() + shiftMs }
let backend: Backend<Promise<Answer>>

beforeEach(() => {
  shiftMs = 0
  runner = new RecordingRunner(scriptRunner(redis.client))
  backend = redisBackend(runner, { prefix: ownPrefix(), clock })
})

function takeWithin(ms: number, key = 'a'): Promise<Answer> {
  return backend.takeAll([chargeOf(backend, hour, key)], { deadlineAt: clock.now() + ms })
}

/** Takes while the server is paused, and resumes the server after the caller has timed out. */
async function takeThroughAStall(count: number): Promise<unknown[]> {
  redis.server.pause()
  try {
    const deadlineAt = clock.now() + 40
    const codes = Array.from({ length: count }, (_, index) =>
      takeWithin(40, index % 2 === 0 ? 'a' : 'b').then(
        () => 'taken',
        (error) => error.code,
      ),
    )
    await until(() => clock.now() > deadlineAt + 5)
    redis.server.resume()
    return await Promise.all(codes)
  } finally {
    redis.server.resume()
  }
}

describe('a deadline', () => {
  test('that is met changes nothing', async () => {
    const { verdicts } = await takeWithin(5_000)
    expect(verdicts[0]).toMatchObject({ allowed: true, remaining: 99 })
  })

  test('that has passed when the server runs the command leaves nothing counted', async () => {
    await takeWithin(5_000)
    expect(new Set(await takeThroughAStall(20))).toEqual(new Set(['LATE']))
    expect(await remaining(backend, hour, 'a')).toBe(99)
    expect(await remaining(backend, hour, 'b')).toBe(100)
  })

  test('is checked by the process until the clock of the server is known: a first call through a stall counts nothing', async () => {
    expect(new Set(await takeThroughAStall(6))).toEqual(new Set(['LATE']))
    expect(await remaining(backend, hour, 'a')).toBe(100)
    expect(runner.calls.map(({ script }) => script.name)[0]).toBe('server-time')
  })

  test("works again after the server's clock was set ahead: one more call, then the answer", async () => {
    await takeWithin(5_000)
    runner.calls.length = 0
    shiftMs -= HOUR_MS
    expect((await takeWithin(5_000)).verdicts[0].remaining).toBe(98)
    expect(runner.calls).toHaveLength(2)
    expect((await takeWithin(5_000)).verdicts[0].remaining).toBe(97)
    expect(runner.calls).toHaveLength(3)
  })

  test("works again after the server's clock was set back: from the next answer on", async () => {
    await takeWithin(5_000)
    shiftMs += HOUR_MS
    expect((await takeWithin(5_000)).verdicts[0].remaining).toBe(98)
    expect(new Set(await takeThroughAStall(4))).toEqual(new Set(['LATE']))
    expect(await remaining(backend, hour, 'a')).toBe(98)
  })

  test('of one request does not end another one with a later deadline or none', async () => {
    await takeWithin(5_000)
    const hold = backend.takeAll([chargeOf(backend, hour, 'hold')])
    const answers = await Promise.allSettled([
      takeWithin(-1),
      takeWithin(5_000),
      backend.takeAll([chargeOf(backend, hour, 'a')]),
      hold,
    ])
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled'])
    expect(await remaining(backend, hour, 'a')).toBe(97)
  })
})

test('a FakeClock that is both clock and serverTime controls a limiter with several policies', async () => {
  const fake = new FakeClock()
  const counts = redisBackend(redis.client, { prefix: ownPrefix(), clock: fake, serverTime: () => fake.now() })
  const policies = ['by address', 'by user'].map((name) => ({ name, limit: 1, window: '1m' }) as const)
  const limiter = createLimiter({ policies, clock: fake, backend: counts })
  const take = async (): Promise<unknown> => {
    const { allowed, source } = await limiter.take({ 'by address': '192.0.2.1', 'by user': 'anna' })
    return { allowed, source }
  }
  expect(await take()).toEqual({ allowed: true, source: 'redis' })
  expect(await take()).toEqual({ allowed: false, source: 'redis' })
  fake.advance(60_000)
  expect(await take()).toEqual({ allowed: true, source: 'redis' })
})
