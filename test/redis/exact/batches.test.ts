import { beforeEach, describe, expect, test } from '@jest/globals'
import type { Backend, Charge } from '@sluice/limiter-core'
import { redisBackend, scriptRunner } from '@sluice/redis'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'
import { bucket, chargeOf, hour, minute, remaining } from './charge.ts'
import { ownPrefix } from './own-prefix.ts'
import { RecordingRunner } from './recording-runner.ts'

const redis = redisClientForTests()
let runner: RecordingRunner
let backend: Backend

beforeEach(() => {
  runner = new RecordingRunner(scriptRunner(redis.client))
  backend = redisBackend(runner, { prefix: ownPrefix(), maxBatch: 10 })
})

function takeAll(charges: readonly Charge[]): Promise<unknown[]> {
  return Promise.all(charges.map((charge) => backend.takeAll([charge])))
}

describe('calls', () => {
  test('a decision is sent at once if no call is in flight, and later decisions of its turn together after it', async () => {
    const first = backend.takeAll([chargeOf(backend, hour, 'a')])
    expect(runner.calls.map(({ keys }) => keys.length)).toEqual([1])
    await Promise.all([first, takeAll([1, 2, 3, 4].map((n) => chargeOf(backend, hour, `key ${n}`)))])
    expect(runner.calls.map(({ keys }) => keys.length)).toEqual([1, 4])
  })

  test('sequential decisions are one call each, and none waits for the end of a turn', async () => {
    for (let takes = 0; takes < 3; takes++) {
      const taken = backend.takeAll([chargeOf(backend, hour, 'a')])
      expect(runner.calls).toHaveLength(takes + 1)
      await taken
    }
  })

  test('all policies of a request are one call', async () => {
    const { verdicts } = await backend.takeAll([
      chargeOf(backend, hour, 'a'),
      chargeOf(backend, minute, 'a'),
      chargeOf(backend, bucket, 'b'),
    ])
    expect(verdicts.map((verdict) => verdict.remaining)).toEqual([99, 4, 49])
    expect(runner.calls).toHaveLength(1)
  })

  test('no call has more keys than maxBatch, unless a single request has more', async () => {
    const many = Array.from({ length: 100 }, (_, index) => chargeOf(backend, hour, `key ${index}`))
    await Promise.all([
      takeAll(many),
      backend.takeAll(Array.from({ length: 12 }, (_, index) => chargeOf(backend, hour, `of one ${index}`))),
    ])
    const sizes = runner.calls.map(({ keys }) => keys.length)
    expect(Math.max(...sizes)).toBe(12)
    expect(sizes.filter((size) => size > 10)).toEqual([12])
    expect(sizes.reduce((sum, size) => sum + size)).toBe(112)
    expect(sizes.length).toBeLessThanOrEqual(13)
  })

  test('decisions on one key in one call are applied in order', async () => {
    const answers = await Promise.all(
      Array.from({ length: 9 }, () => backend.takeAll([chargeOf(backend, minute, 'a')])),
    )
    const left = answers.map(({ verdicts }) => verdicts[0].remaining)
    expect(left).toEqual([4, 3, 2, 1, 0, 0, 0, 0, 0])
    expect(answers.filter(({ verdicts }) => verdicts[0].allowed)).toHaveLength(5)
  })

  test('takes, peeks, charges and refunds share a call, and each receives its own answer', async () => {
    const { takenAt } = await backend.takeAll([chargeOf(backend, minute, 'a', 3)])
    runner.calls.length = 0
    const hold = backend.takeAll([chargeOf(backend, hour, 'hold')])
    const [taken, looked, refunded, charged, costly] = await Promise.all([
      backend.takeAll([chargeOf(backend, minute, 'a', 2)]),
      backend.peekAll([chargeOf(backend, minute, 'a', 1)]),
      backend.adjustAll([chargeOf(backend, minute, 'a', -1)], takenAt),
      backend.adjustAll([chargeOf(backend, minute, 'b', 7)], Number.POSITIVE_INFINITY),
      backend.takeAll([chargeOf(backend, minute, 'c', 6)]),
      hold,
    ])
    // a refund first checks which server it goes to
    expect(runner.calls.map(({ script }) => script.name).filter((name) => name !== 'server-time')).toHaveLength(2)
    expect(taken.verdicts[0]).toMatchObject({ allowed: true, remaining: 0 })
    expect(looked.verdicts[0]).toMatchObject({ allowed: false, remaining: 0 })
    expect(refunded.verdicts[0]).toMatchObject({ allowed: true, remaining: 1 })
    expect(charged.verdicts[0]).toMatchObject({ allowed: true, remaining: 0 })
    expect(costly.verdicts[0]).toMatchObject({ allowed: false, retryAfterMs: Number.POSITIVE_INFINITY, remaining: 5 })
  })

  test('a request that names a counter twice takes from it twice', async () => {
    const { verdicts } = await backend.takeAll([chargeOf(backend, minute, 'a'), chargeOf(backend, minute, 'a', 2)])
    expect(verdicts[1].remaining).toBe(2)
    expect(await remaining(backend, minute, 'a')).toBe(2)
  })

  test('a charge to an expired window is reported to observers', async () => {
    const events: unknown[] = []
    const stop = backend.observe?.({ event: (name, data) => events.push([name, data]) })
    await backend.takeAll([chargeOf(backend, minute, 'a')])
    await backend.adjustAll([chargeOf(backend, minute, 'a', 2)], 1_000)
    expect(events).toEqual([['lateCharge', { policy: 'minute', key: 'a', units: 2 }]])
    stop?.()
    await backend.adjustAll([chargeOf(backend, minute, 'a', 2)], 1_000)
    expect(events).toHaveLength(1)
  })
})
