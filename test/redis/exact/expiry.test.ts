import { beforeEach, describe, expect, test } from '@jest/globals'
import type { Answer, Backend } from '@sluice/limiter-core'
import { redisBackend } from '@sluice/redis'
import { eventually } from '../../services/eventually.ts'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'
import { chargeOf, minute, remaining } from './charge.ts'
import { ownPrefix } from './own-prefix.ts'

const brief = { ...minute, windowMs: 400 }

const redis = redisClientForTests()
let prefix: string
let name: string
let backend: Backend<Promise<Answer>>

beforeEach(() => {
  prefix = ownPrefix()
  name = `${prefix}:{a}:exact/minute/fixed-window@1/60000`
  backend = redisBackend(redis.client, { prefix })
})

describe('a key', () => {
  test('expires when all of its units are available again, or an eighth of that time later', async () => {
    const { verdicts } = await backend.takeAll([chargeOf(backend, minute, 'a')])
    const lives = await redis.client.pttl(name)
    const { resetAfterMs } = verdicts[0]
    expect(lives).toBeLessThanOrEqual(1.125 * resetAfterMs)
    // the command took some time
    expect(lives).toBeGreaterThan(resetAfterMs - 5_000)
  })

  test.each(['fixed-window', 'sliding-window', 'gcra', 'token-bucket'] as const)(
    'of a %s keeps its expiry until a take must change it',
    async (algorithm) => {
      const policy = { name: 'minute', algorithm, limit: 1_000, windowMs: 60_000 }
      let now = 1_700_000_000_000
      const simulated = redisBackend(redis.client, { prefix, serverTime: () => now })
      const take = (): Promise<Answer> => simulated.takeAll([chargeOf(simulated, policy, 'a')])
      for (let taken = 0; taken < 500; taken++) await take()
      const [key] = await redis.client.keys(`${prefix}*`)
      const oneDay = 86_400_000
      await redis.client.pexpire(key, oneDay)
      now += 20
      await take()
      expect(await redis.client.pttl(key)).toBeGreaterThan(oneDay / 2)
      await redis.client.pexpire(key, 30_000)
      now += 60_000
      await take()
      expect(await redis.client.pttl(key)).toBeGreaterThan(30_000)
    },
  )

  test('that lost its expiry still counts, and has an expiry again after the next write', async () => {
    const ofBrief = `${prefix}:{a}:exact/minute/fixed-window@1/400`
    await backend.takeAll([chargeOf(backend, brief, 'a', 5)])
    await redis.client.persist(ofBrief)
    await eventually(async () => (await remaining(backend, brief, 'a')) === 5, { what: 'a new window' })
    expect(await redis.client.pttl(ofBrief)).toBe(-1)
    await backend.takeAll([chargeOf(backend, brief, 'a')])
    expect(await redis.client.pttl(ofBrief)).toBeGreaterThan(0)
  })

  test('is not created by a peek, a denial, a take of 0 or a refund', async () => {
    await backend.peekAll([chargeOf(backend, minute, 'a')])
    await backend.takeAll([chargeOf(backend, minute, 'a', 6)])
    await backend.takeAll([chargeOf(backend, minute, 'a', 0)])
    await backend.adjustAll([chargeOf(backend, minute, 'a', -1)], Number.POSITIVE_INFINITY)
    expect(await redis.client.keys(`${prefix}*`)).toEqual([])
  })

  test('with a debt longer than Redis can represent is kept as long as possible', async () => {
    const bucket = { name: 'minute', algorithm: 'token-bucket', limit: 1, windowMs: 86_400_000 } as const
    await backend.adjustAll([chargeOf(backend, bucket, 'a', Number.MAX_SAFE_INTEGER)], Number.POSITIVE_INFINITY)
    expect((await backend.takeAll([chargeOf(backend, bucket, 'a')])).verdicts[0].allowed).toBe(false)
  })
})

describe('the usage of a key that the caller knows', () => {
  test('is adopted if Redis has a lower count, even by a take that is denied', async () => {
    const known = { used: 5, resetAfterMs: 30_000 }
    const first = await backend.takeAll([{ ...chargeOf(backend, minute, 'a'), known }])
    expect(first.verdicts[0]).toMatchObject({ allowed: false, remaining: 0 })
    expect(first.verdicts[0].retryAfterMs).toBeLessThanOrEqual(30_000)
    expect(await remaining(backend, minute, 'a')).toBe(0)
  })

  test('changes nothing if Redis has the same count', async () => {
    await backend.takeAll([chargeOf(backend, minute, 'a', 3)])
    const known = { used: 3, resetAfterMs: 1_000 }
    const { verdicts } = await backend.takeAll([{ ...chargeOf(backend, minute, 'a'), known }])
    expect(verdicts[0].remaining).toBe(1)
    expect(verdicts[0].resetAfterMs).toBeGreaterThan(50_000)
  })

  test('never releases a key earlier than Redis would', async () => {
    await backend.takeAll([chargeOf(backend, minute, 'a', 3)])
    const known = { used: 5, resetAfterMs: 1_000 }
    const { verdicts } = await backend.takeAll([{ ...chargeOf(backend, minute, 'a'), known }])
    expect(verdicts[0].retryAfterMs).toBeGreaterThan(50_000)
  })
})
