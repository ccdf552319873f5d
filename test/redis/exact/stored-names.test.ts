import { describe, expect, test } from '@jest/globals'
import { hashSlot, type RedisBackendOptions, redisBackend } from '@sluice/redis'
import { hostileKeys } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'
import { bucket, chargeOf, hour, minute, remaining } from './charge.ts'
import { ownPrefix } from './own-prefix.ts'

const SECRET = 'a secret of the fleet'

const redis = redisClientForTests()

/** Returns the name under which a take of `key` is stored, without the prefix. */
async function storedAs(key: string, options: RedisBackendOptions = {}, policies = [minute]): Promise<string[]> {
  const prefix = ownPrefix()
  const backend = redisBackend(redis.client, { prefix, ...options })
  await backend.takeAll(policies.map((policy) => chargeOf(backend, policy, key)))
  const names = await redis.client.keys(`${prefix}:*`)
  return names.map((name) => name.slice(prefix.length)).sort()
}

describe('names', () => {
  test('contain prefix, key, scope, policy, algorithm and version', async () => {
    expect(await storedAs('user:17')).toEqual([':{user:17}:exact/minute/fixed-window@1/60000'])
    expect(await storedAs('é'.repeat(32))).toEqual([`:{${'é'.repeat(32)}}:exact/minute/fixed-window@1/60000`])
  })

  test('distinguish windows from slices, whose cells have different meanings', async () => {
    const sliced = { ...hour, slices: 6 }
    expect(await storedAs('a', {}, [sliced])).toEqual([':{a}:exact/hour/sliding-window@2/3600000/6'])
  })

  test.each([
    ['longer than 64 bytes', 'x'.repeat(65)],
    ['longer than 64 bytes in UTF-8', 'é'.repeat(33)],
    ['empty', ''],
    ['with braces', '{a}'],
    ['that looks like a hash', '#a'],
    ['with control characters', 'a\r\nb'],
    ['with invalid UTF-16', '\ud800'],
  ])('contain a hash for a key %s', async (_, key) => {
    const [name] = await storedAs(key)
    expect(name).toMatch(/^:\{#[\w-]{43}\}:exact/)
  })

  test('differ with another secret, and are all hashed if the option is set', async () => {
    const all = { hashKeys: 'all', secret: SECRET } as const
    const [one] = await storedAs('a', all)
    const [other] = await storedAs('a', { ...all, secret: Buffer.alloc(16, 7) })
    expect(one).toMatch(/^:\{#[\w-]{43}\}/)
    expect(other).toMatch(/^:\{#[\w-]{43}\}/)
    expect(other).not.toBe(one)
    expect(await storedAs('a', all)).toEqual([one])
  })

  test.each(['all', 'long'] as const)('are in one slot for all policies of a key, hashed %s', async (hashKeys) => {
    for (const key of hostileKeys.filter(({ length }) => length < 100)) {
      const names = await storedAs(key, { hashKeys, secret: SECRET }, [minute, hour, bucket])
      expect(names).toHaveLength(3)
      expect(new Set(names.map((name) => hashSlot(name))).size).toBe(1)
    }
  })

  test('of hostile keys have separate counts if all are hashed', async () => {
    const backend = redisBackend(redis.client, { prefix: ownPrefix(), hashKeys: 'all', secret: SECRET })
    for (const key of hostileKeys) await backend.takeAll([chargeOf(backend, minute, key, 2)])
    for (const key of hostileKeys) expect(await remaining(backend, minute, key)).toBe(3)
  })
})

describe('options', () => {
  test.each<[string, unknown, string]>([
    ['hashed keys without a secret', { hashKeys: 'all' }, 'SLUICE_SECRET_MISSING'],
    ['a short secret', { secret: 'short' }, 'SLUICE_BAD_OPTION'],
    ['a secret that is not a string', { secret: 17 }, 'SLUICE_BAD_OPTION'],
    ['a prefix with braces', { prefix: 'a{b' }, 'SLUICE_BAD_OPTION'],
    ['no prefix', { prefix: '' }, 'SLUICE_BAD_OPTION'],
    ['an invalid hashKeys', { hashKeys: 'none' }, 'SLUICE_BAD_OPTION'],
    ['a batch of 0', { maxBatch: 0 }, 'SLUICE_BAD_OPTION'],
    ['an invalid clock', { clock: 17 }, 'SLUICE_BAD_OPTION'],
    ['an invalid server time', { serverTime: 17 }, 'SLUICE_BAD_OPTION'],
    ['an unknown option', { perfix: 'a' }, 'SLUICE_BAD_OPTION'],
  ])('reject %s', (_, options, code) => {
    expect(() => redisBackend(redis.client, options as RedisBackendOptions)).toThrow(expect.objectContaining({ code }))
  })

  test('never include a short secret in an error message', () => {
    expect(() => redisBackend(redis.client, { secret: 'hunter2' })).toThrow(/^(?!.*hunter2)/)
  })

  test.each([undefined, null, {}, 'redis://localhost'])('reject the client %p', (none) => {
    expect(() => redisBackend(none as unknown as Redis)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
  })
})
