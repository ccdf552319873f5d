import { randomUUID } from 'node:crypto'
import { describe, expect, jest, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { algorithms, systemClock } from '@sluice/limiter-core/backend'
import { leasedBackend, redisBackend, redisInflight, type ScriptRunner, scriptRunner } from '@sluice/redis'
import { FakeClock } from '@sluice/testkit'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'

const redis = redisClientForTests()

const policy = { name: 'api', algorithm: 'fixed-window', limit: 100, window: '1h' } as const
const compiled = algorithms['fixed-window'].compile({ ...policy, windowMs: 3_600_000 })

/** A thenable like those of libraries, without `catch`. */
class OtherPromise {
  // biome-ignore lint/suspicious/noThenProperty: this is what makes it one
  then(told: (value: string) => void): void {
    told('text')
  }
}

/** Unusual behavior of runners. */
const oddities: readonly (readonly [string, () => unknown])[] = [
  ['throws', () => throws(new Error('boom'))],
  ['throws nothing', () => throws(undefined)],
  ['does not return a promise', () => 'text'],
  ['answers nothing', () => undefined],
  ['returns another kind of promise', () => new OtherPromise()],
]

function throws(what: unknown): never {
  throw what
}

const backends = [
  ['redisBackend', redisBackend],
  ['leasedBackend', leasedBackend],
] as const

describe.each(backends)('%s rejects, and never throws', (_name, make) => {
  test.each(oddities)('if its runner %s', async (_what, run) => {
    const backend = make({ run } as ScriptRunner)
    const counter = backend.open(compiled, 'count')
    for (const moment of [undefined, { deadlineAt: systemClock.now() + 10_000 }]) {
      const taken = counter.take('a', 1, moment)
      await expect(taken).rejects.toMatchObject({ name: 'RedisFailure' })
    }
    await backend.close?.()
  })
})

describe('a runner whose answers are bytes', () => {
  const run: ScriptRunner['run'] = (script, keys, args) =>
    redis.client.callBuffer('EVAL', script.text, keys.length, ...keys, ...args)

  test.each(backends)('counts, refunds and resets in %s, without a warning', async (_name, make) => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const backend = make({ run }, { prefix: randomUUID() })
    const limiter = createLimiter({ policies: [policy], backend, onBackendError: 'deny', deadlineMs: 20_000 })
    const taken = await limiter.take('a', 10)
    expect(taken).toMatchObject({ allowed: true, counted: true })
    expect(await limiter.charge('a', -5, taken)).toMatchObject({ counted: true, binding: { remaining: 95 } })
    await limiter.reset('a')
    expect((await limiter.take('a')).binding.remaining).toBe(99)
    limiter.close()
    await backend.close?.()
    expect(warned.mock.calls).toEqual([])
    warned.mockRestore()
  })

  test('holds permits', async () => {
    const caps = redisInflight({ run }, { prefix: randomUUID(), deadlineMs: 3_000, limit: 2 })
    await caps.acquire('a')
    expect(await caps.count?.('a')).toBe(1)
    await caps.close?.()
  })
})

test('a server time that is not a number counts as no answer, and is not used', async () => {
  const inner = scriptRunner(redis.client)
  let calls = 0
  const run: ScriptRunner['run'] = (...call) =>
    calls++ === 0 ? Promise.resolve(['x', 'y', '', '']) : inner.run(...call)
  const backend = redisBackend({ run }, { prefix: randomUUID() })
  const charge = { key: 'a', counter: backend.open(compiled, 'count'), cost: 1 }
  const take = () => backend.takeAll([charge], { deadlineAt: systemClock.now() + 20_000 })
  await expect(take()).rejects.toMatchObject({ code: 'ERR' })
  await expect(take()).resolves.toMatchObject({ counted: true })
  await backend.close?.()
})

test('an answer that never arrives prevents no call a second later', async () => {
  const clock = new FakeClock()
  const inner = scriptRunner(redis.client)
  let calls = 0
  const run: ScriptRunner['run'] = (...call) => (calls++ === 0 ? new Promise(() => {}) : inner.run(...call))
  const backend = redisBackend({ run }, { prefix: randomUUID(), clock })
  const charge = { key: 'a', counter: backend.open(compiled, 'count'), cost: 1 }
  const take = () => backend.takeAll([charge], { deadlineAt: clock.now() + 20_000 })
  void take()
  clock.advance(1_000)
  await expect(take()).resolves.toMatchObject({ counted: true })
  await backend.close?.()
})
