import { describe, expect, test } from '@jest/globals'
import { redisUniques } from '@sluice/redis/uniques'
import { RedisHyperLogLog } from '@sluice/sketches'
import { ownRedis } from '../../redis/channel/own-redis.ts'
import { names, uniquesMembers } from '../../redis/uniques/uniques-member.ts'
import { codeOf } from '../../sketches/contract/sketch-contract.ts'

const redis = ownRedis()
const member = uniquesMembers(redis)

function throws(): never {
  throw new Error('looked at')
}

/** A HyperLogLog whose runs end before they cover all of its registers. */
const broken = Buffer.from(new RedisHyperLogLog().toBytes()).subarray(0, 17)

type Put = (key: string) => Promise<unknown>
describe.each<[string, string, Put]>([
  ['a list', '', (key) => redis.client.rpush(key, 'mine')],
  ['text', '', (key) => redis.client.set(key, 'mine')],
  ['no text', '', (key) => redis.client.set(key, '')],
  ['a corrupt HyperLogLog', '', (key) => redis.client.set(key, broken)],
  ['a list in place of its creation time', ':born', (key) => redis.client.rpush(key, 'mine')],
])('if the key already has %s', (_, suffix, put) => {
  test('add never throws, observers are notified once, the value stays, and all items are sent when the key is free again', async () => {
    const prefix = redis.prefix()
    const key = `${prefix}:{clients}:uniques`
    const { uniques, told, exchange } = member(prefix)
    // a creation time is read where items were counted
    uniques.add('first')
    await exchange(3)
    await redis.client.del(`${key}${suffix}`)
    await put(`${key}${suffix}`)
    const before = await redis.client.dumpBuffer(`${key}${suffix}`)
    const keys = names(0, 50)
    for (const name of keys) uniques.add(name)
    await exchange(5)
    expect(told).toEqual([
      { name: 'sync', topic: 'clients', failed: expect.stringMatching(/^(WRONGTYPE|INVALIDOBJ)$/) },
    ])
    expect(await redis.client.dumpBuffer(`${key}${suffix}`)).toEqual(before)
    const all = new RedisHyperLogLog()
    for (const name of ['first', ...keys]) all.add(name)
    expect(uniques.count()).toBe(all.count())
    await redis.client.del(`${key}${suffix}`)
    await exchange(5)
    expect([await redis.client.pfcount(key), uniques.count()]).toEqual([all.count(), all.count()])
    expect(told.slice(1)).toEqual([
      { name: 'sync', topic: 'clients', failed: false },
      { name: 'sync', topic: 'clients', missed: true },
    ])
  })
})

test('keys of any type are counted, with and without a secret', async () => {
  const strange = [
    { toString: throws },
    Object.create(null),
    Symbol('key'),
    7n,
    Number.NaN,
    undefined,
    '\ud800',
    'a'.repeat(2 ** 20),
    '\r\n{}\0*',
    new DataView(new ArrayBuffer(3)),
    BigUint64Array.of(1n),
  ]
  for (const secret of [undefined, 'a secret of sixteen bytes']) {
    const { uniques, exchange } = member(redis.prefix(), { secret })
    for (const key of strange) uniques.add(key as never)
    await exchange(3)
    // all keys without a string form are one key
    expect(uniques.count()).toBe(strange.length - 1)
    expect(await redis.client.pfcount(uniques.key as string)).toBe(strange.length - 1)
  }
})

test.each([
  ['an empty prefix', { prefix: '' }, 'SLUICE_BAD_OPTION'],
  ['a prefix with braces', { prefix: 'a{b}' }, 'SLUICE_BAD_OPTION'],
  ['a prefix of a kilobyte', { prefix: 'a'.repeat(1_024) }, 'SLUICE_BAD_OPTION'],
  ['a prefix that is not a string', { prefix: Symbol('prefix') }, 'SLUICE_BAD_OPTION'],
  ['a name with braces', { name: 'a}{b' }, 'SLUICE_BAD_MESSAGE'],
  ['a name with a line break', { name: 'a\r\nb' }, 'SLUICE_BAD_MESSAGE'],
  ['no name', { name: undefined }, 'SLUICE_BAD_MESSAGE'],
  ['a short secret', { secret: 'short' }, 'SLUICE_BAD_SEED'],
  ['a secret that is not a string', { secret: 5 }, 'SLUICE_BAD_SEED'],
  ['null for a secret', { secret: null }, 'SLUICE_BAD_SEED'],
])('redisUniques rejects %s', (_, options, code) => {
  expect(codeOf(() => redisUniques(redis.client, { name: 'clients', ...options } as never))).toBe(code)
})
