import { describe, expect, test } from '@jest/globals'
import { HyperLogLog, SketchSeed } from '@sluice/sketches'
import { eachSeed } from '@sluice/testkit'
import { codeOf, sketchContract } from '../contract/sketch-contract.ts'

const seed = new SketchSeed('the seed of these tests')
const other = new SketchSeed('the seed of other tests')

for (const precision of [4, 9]) {
  sketchContract(`HyperLogLog of precision ${precision}`, {
    make: () => new HyperLogLog({ precision, seed }),
    strangers: [
      () => new HyperLogLog({ precision: precision + 1, seed }),
      () => new HyperLogLog({ precision, seed: other }),
      () => 'no sketch' as unknown as HyperLogLog,
      () => undefined as unknown as HyperLogLog,
    ],
    feed: (sketch, { key }) => sketch.add(key),
    fromBytes: (bytes) => HyperLogLog.fromBytes(bytes, { seed }),
    answers: (sketch) => sketch.count(),
    mergesExactly: true,
    idempotent: true,
  })
}

describe('HyperLogLog', () => {
  test('counts 0 keys as 0, and a few keys exactly except in rare cases', async () => {
    await eachSeed(40, (_, n) => {
      const sketch = new HyperLogLog({ seed: new SketchSeed(`the seed of test ${n}`) })
      expect(sketch.count()).toBe(0)
      for (let keys = 1; keys <= 100; keys++) {
        sketch.add(`key ${keys}`)
        expect(Math.abs(sketch.count() - keys)).toBeLessThanOrEqual(keys < 30 ? 1 : 4)
      }
    })
  })

  test('add returns true for a new key, and false for a known key', () => {
    const sketch = new HyperLogLog({ seed })
    const keys = ['red', '', 'naïve', '\ud800', '__proto__', 'x'.repeat(1_000_000), 7, '7', -0.5, Number.NaN, 2 ** 53]
    const news = keys.map((key) => sketch.add(key))
    expect(news).toEqual(keys.map(() => true))
    expect(sketch.count()).toBe(keys.length)
    expect(keys.map((key) => sketch.add(key))).toEqual(keys.map(() => false))
    expect([sketch.add(0), sketch.add(-0), sketch.add(new Uint8Array(0))]).toEqual([true, false, false])
  })

  test('counts keys of other processes only if the seed is the same', () => {
    const [one, same, stranger] = [seed, new SketchSeed('the seed of these tests'), other].map(
      (of) => new HyperLogLog({ seed: of }),
    )
    for (const sketch of [one, same, stranger]) sketch.add('red')
    expect(same.toBytes()).toEqual(one.toBytes())
    expect(stranger.toBytes().subarray(64)).not.toEqual(one.toBytes().subarray(64))
    expect(codeOf(() => HyperLogLog.fromBytes(one.toBytes(), { seed: other }))).toBe('SLUICE_SKETCH_MISMATCH')
    expect(codeOf(() => HyperLogLog.fromBytes(one.toBytes()))).toBe('SLUICE_SKETCH_MISMATCH')
  })

  test('rejects invalid ranks, and counts full registers as Infinity', () => {
    for (const precision of [4, 14, 18]) {
      const bytes = new HyperLogLog({ precision, seed }).toBytes()
      bytes.fill(65 - precision, 64)
      expect(HyperLogLog.fromBytes(bytes, { seed }).count()).toBe(Number.POSITIVE_INFINITY)
      bytes[bytes.length - 1]++
      expect(codeOf(() => HyperLogLog.fromBytes(bytes, { seed }))).toBe('SLUICE_BAD_BYTES')
    }
  })

  test('rejects invalid options', () => {
    for (const precision of [3, 19, 4.5, Number.NaN, '14', {}]) {
      expect(codeOf(() => new HyperLogLog({ precision: precision as number }))).toBe('SLUICE_BAD_OPTION')
    }
    expect(codeOf(() => new HyperLogLog({ precission: 14 } as never))).toBe('SLUICE_BAD_OPTION')
    expect(codeOf(() => new HyperLogLog({ seed: 'short' }))).toBe('SLUICE_BAD_SEED')
    expect(codeOf(() => HyperLogLog.fromBytes(new Uint8Array(80), { precision: 4 } as never))).toBe('SLUICE_BAD_OPTION')
  })
})
