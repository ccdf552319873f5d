import { describe, expect, test } from '@jest/globals'
import { CountMin, murmurHash2, RedisBloomCountMin, type SketchKey } from '@sluice/sketches'
import fc from 'fast-check'
import { codeOf } from '../contract/sketch-contract.ts'
import { murmurTwin } from './murmur-collision.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const hashOf = (text: string, seed: number): number => murmurHash2(bytesOf(text), bytesOf(text).length, seed)
const added = (sketch: RedisBloomCountMin, amounts: Readonly<Record<string, number>>): number[] =>
  Object.entries(amounts).map(([key, amount]) => sketch.add(key, amount))
const cellsOf = (sketch: RedisBloomCountMin): number[] => [...new Uint32Array(sketch.toBytes().slice(64).buffer)]

describe('MurmurHash2', () => {
  test.each([
    ['hello', 0, 3_848_350_155],
    ['hello', 1, 2_788_266_382],
    ['a', 0, 2_456_313_694],
    ['', 0, 0],
  ])('of %j under the seed %i is %i', (text, seed, hash) => {
    expect(hashOf(text, seed)).toBe(hash)
  })

  test('matches its definition for any bytes and any seed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 30 }), fc.integer({ min: 0, max: 2 ** 32 - 1 }), (bytes, seed) => {
        expect(murmurHash2(bytes, bytes.length, seed)).toBe(definedMurmur2(bytes, seed))
      }),
    )
  })

  test('reads exactly the given length', () => {
    expect(murmurHash2(bytesOf('hello, and more'), 5, 0)).toBe(3_848_350_155)
  })
})

describe('CountMin answers like RedisBloom', () => {
  test('to CMS.INITBYDIM 5 2 and three identical CMS.INCRBY, until a cell is full', () => {
    const sketch = new RedisBloomCountMin({ width: 5, depth: 2 })
    const amounts = { a: 2 ** 31 - 1, b: 10, c: 7, d: 5 }
    expect(added(sketch, amounts)).toEqual([2_147_483_647, 10, 17, 5])
    expect([sketch.estimate('b'), sketch.estimate('c')]).toEqual([17, 17])
    expect(added(sketch, amounts)).toEqual([4_294_967_294, 27, 34, 10])
    expect(sketch.estimate('b')).toBe(34)
    expect(added(sketch, amounts)).toEqual([4_294_967_295, 44, 51, 15])
    expect(sketch.total).toBe(3 * (2 ** 31 - 1 + 22))
  })

  test('to CMS.INITBYDIM 2 2 with two keys', () => {
    const sketch = new RedisBloomCountMin({ width: 2, depth: 2 })
    expect(added(sketch, { foo: 10, bar: 42 })).toEqual([10, 42])
    expect([sketch.estimate('foo'), sketch.estimate('bar'), sketch.total]).toEqual([10, 42, 52])
  })

  test('to CMS.INITBYPROB 0.001 0.01: 2000 columns and 7 rows', () => {
    const sketch = RedisBloomCountMin.fromError(0.001, 0.01)
    expect([sketch.width, sketch.depth]).toEqual([2000, 7])
    const tenth = RedisBloomCountMin.fromError(0.001, 0.001)
    expect([tenth.width, tenth.depth]).toEqual([2000, 10])
  })
})

describe('a key', () => {
  test.each<[SketchKey, SketchKey]>([
    ['naïve 🚰', bytesOf('naïve 🚰')],
    ['hello', bytesOf('hello')],
    [7, '7'],
    [-0, '0'],
    ['€'.repeat(2_000), bytesOf('€'.repeat(2_000))],
    ['x'.repeat(100_000), bytesOf('x'.repeat(100_000))],
    ['\ud800', '\ufffd'],
  ])('is hashed as UTF-8 bytes: %p', (key, same) => {
    const [one, other] = [key, same].map((counted) => {
      const sketch = new RedisBloomCountMin({ width: 1009, depth: 7 })
      sketch.add(counted, 3)
      return sketch
    })
    expect(one.toBytes()).toEqual(other.toBytes())
  })
})

describe('CMS.MERGE', () => {
  const [a, b] = [
    { foo: 5, bar: 3, baz: 9 },
    { foo: 2, bar: 3, baz: 1 },
  ].map((amounts) => {
    const sketch = new RedisBloomCountMin({ width: 1000, depth: 5 })
    added(sketch, amounts)
    return sketch
  })
  const merged = (sources: RedisBloomCountMin[], weights?: number[]): [number[], number] => {
    const sketch = new RedisBloomCountMin({ width: 1000, depth: 5 })
    sketch.add('gone', 100)
    sketch.mergeAll(sources, weights)
    return [['foo', 'bar', 'baz', 'gone'].map((key) => sketch.estimate(key)), sketch.total]
  }

  test('replaces the target by the weighted sum', () => {
    expect(merged([a, b])).toEqual([[7, 6, 10, 0], 23])
    expect(merged([a, b], [1, 2])).toEqual([[9, 9, 11, 0], 29])
    expect(merged([a, b], [2, 3])).toEqual([[16, 15, 21, 0], 52])
    expect(merged([])).toEqual([[0, 0, 0, 0], 0])
  })

  test('accepts negative weights if all cells stay in range, in any order', () => {
    expect(merged([a, b], [1, -1])).toEqual([[3, 0, 8, 0], 11])
    expect(merged([b, a], [-1, 1])).toEqual([[3, 0, 8, 0], 11])
    expect(merged([a, b, a], [-5, -1, 6])).toEqual([[3, 0, 8, 0], 11])
  })

  test('into one of its sources counts that source too', () => {
    const sketch = RedisBloomCountMin.fromBytes(a.toBytes())
    sketch.mergeAll([sketch, b, sketch], [2, 1, -1])
    expect([sketch.estimate('foo'), sketch.total]).toEqual([7, 23])
    sketch.merge(sketch, -1)
    expect([cellsOf(sketch).every((cell) => cell === 0), sketch.total]).toEqual([true, 0])
  })

  test.each<[string, number[]]>([
    ['a cell below 0', [1, -2]],
    ['a cell above 2^32 - 1', [2 ** 20, 2 ** 20]],
  ])('with %s changes nothing', (_, weights) => {
    const sketch = RedisBloomCountMin.fromBytes(a.toBytes())
    const large = new RedisBloomCountMin({ width: 1000, depth: 5 })
    large.add('foo', 5_000)
    const before = sketch.toBytes()
    expect(codeOf(() => sketch.mergeAll([sketch, large], weights))).toBe('SLUICE_SKETCH_UNSUPPORTED')
    expect(sketch.toBytes()).toEqual(before)
  })

  test.each([[[1]], [[1, 2, 3]], [[1, 0.5]], [[1, Number.NaN]], [[1, 2 ** 20 + 1]]])(
    'rejects the weights %j',
    (weights) => {
      expect(codeOf(() => merged([a, b], weights))).toBe('SLUICE_BAD_AMOUNT')
    },
  )
})

describe('an attacker who knows the algorithm but not the seed', () => {
  const victim = bytesOf('198.51.100.7')
  const twin = murmurTwin(victim)

  test('can compute a key that collides with the victim under every seed of murmur', () => {
    expect(twin).not.toEqual(victim)
    const seeds = Array.from({ length: 10_000 }, (_, n) => (n * 0x9e3779b1) >>> 0)
    const apart = seeds.filter((seed) => murmurHash2(twin, 12, seed) !== murmurHash2(victim, 12, seed))
    expect(apart).toEqual([])
  })

  test('raises the count of the victim in RedisBloom, however many rows it has', () => {
    const sketch = new RedisBloomCountMin({ width: 2000, depth: 32 })
    sketch.add(twin, 1_000)
    expect(sketch.estimate('198.51.100.7')).toBe(1_000)
  })

  test('gains nothing against a CountMin with a seed', () => {
    const hit = Array.from(
      { length: 1_000 },
      (_, n) => new CountMin({ width: 2048, depth: 4, seed: `seed number ${n} of us` }),
    )
    for (const sketch of hit) sketch.add(twin, 1_000)
    expect(hit.filter((sketch) => sketch.estimate(victim) > 0)).toEqual([])
  })
})

/** A second implementation of MurmurHash2, in bigints: slow, and without any code of the package. */
function definedMurmur2(bytes: Uint8Array, seed: number): number {
  const m = 0x5bd1e995n
  const times = (a: bigint): bigint => BigInt.asUintN(32, a * m)
  let h = BigInt(seed) ^ BigInt(bytes.length)
  const whole = bytes.length - (bytes.length % 4)
  for (let at = 0; at < whole; at += 4) {
    const k = times(BigInt(new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, true)))
    h = times(h) ^ times(k ^ (k >> 24n))
  }
  for (const [n, byte] of bytes.subarray(whole).entries()) h ^= BigInt(byte) << BigInt(8 * n)
  if (whole < bytes.length) h = times(h)
  h = times(h ^ (h >> 13n))
  return Number(h ^ (h >> 15n))
}
