import { describe, expect, test } from '@jest/globals'
import { MurmurHash64A } from '@sluice/sketches'
import { eachSeed } from '@sluice/testkit'
import { keyOfHash, murmurOf, REDIS_SEED } from './murmur-model.ts'

function resultOf({ low, high }: MurmurHash64A): bigint {
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0)
}

function halves(seed: bigint): [number, number] {
  return [Number(BigInt.asIntN(32, seed)), Number(BigInt.asIntN(32, seed >> 32n))]
}

describe('MurmurHash64A', () => {
  test('has the published hash of "a" under the seed of Redis', () => {
    const hash = new MurmurHash64A(Number(REDIS_SEED))
    hash.text('a')
    expect(resultOf(hash)).toBe(0x53d2470a9b43b1a7n)
    hash.bytes(Uint8Array.of(0x61))
    expect(resultOf(hash)).toBe(0x53d2470a9b43b1a7n)
  })

  test('equals the definition for bytes of all lengths and values, under any seed', async () => {
    await eachSeed(300, (random, n) => {
      const word = (): bigint => BigInt(random.whole(2 ** 32))
      const seed = random.pick([REDIS_SEED, 0n, 0xc6a4a7935bd1e995n, (word() << 32n) | word()])
      const hash = new MurmurHash64A(...halves(seed))
      const key = Uint8Array.from({ length: n % 70 }, () => random.pick([0, 1, 127, 128, 255, random.whole(256)]))
      hash.bytes(key)
      expect(resultOf(hash)).toBe(murmurOf(key, seed))
    })
  })

  test('hashes text in its UTF-8 form, of any length and content', async () => {
    const hash = new MurmurHash64A(Number(REDIS_SEED))
    await eachSeed(300, (random, n) => {
      const characters = random.pick([
        ['a', 'Z', '\0', '\x7f'],
        ['a', 'é', '☃', '😀'],
        ['a', '\ud800', '\udc00', 'ÿ'],
      ])
      const length = random.pick([n % 40, n % 40, 1_364, 1_365, 1_366, 5_000])
      const key = Array.from({ length }, () => random.pick(characters)).join('')
      hash.text(key)
      expect(resultOf(hash)).toBe(murmurOf(new TextEncoder().encode(key), REDIS_SEED))
    })
  })

  test('uses a new seed for each key, also a seed that is a hash itself', () => {
    const hash = new MurmurHash64A(...halves(0xc6a4a7935bd1e995n))
    hash.text('key')
    const first = murmurOf(Buffer.from('key'), 0xc6a4a7935bd1e995n)
    expect(resultOf(hash)).toBe(first)
    hash.seedLow = hash.low
    hash.seedHigh = hash.high
    hash.text('key')
    expect(resultOf(hash)).toBe(murmurOf(Buffer.from('key'), first))
  })

  test('is not secure: an attacker who has the seed can compute a key for each hash', async () => {
    const hash = new MurmurHash64A(Number(REDIS_SEED))
    await eachSeed(50, (random) => {
      const wanted = (BigInt(random.whole(2 ** 32)) << 32n) | BigInt(random.whole(2 ** 32))
      hash.bytes(keyOfHash(wanted, REDIS_SEED))
      expect(resultOf(hash)).toBe(wanted)
    })
  })
})
