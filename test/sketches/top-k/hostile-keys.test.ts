import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from '@jest/globals'
import { HeavyKeeper, SpaceSaving } from '@sluice/sketches'
import { hostileKeys } from '@sluice/testkit'

const SEED = 'a seed of this test'
const MEGABYTE = 2 ** 20

describe.each([
  {
    name: 'SpaceSaving',
    make: (k: number) => new SpaceSaving({ capacity: k }),
    read: (bytes: Uint8Array) => SpaceSaving.fromBytes(bytes),
  },
  {
    name: 'HeavyKeeper',
    make: (k: number) => new HeavyKeeper({ k, seed: SEED }),
    read: (bytes: Uint8Array) => HeavyKeeper.fromBytes(bytes, { seed: SEED }),
  },
])('$name', ({ make, read }) => {
  test('counts every hostile key separately, also through bytes and merges', () => {
    const sketch = make(hostileKeys.length)
    for (const [n, key] of hostileKeys.entries()) sketch.add(key, n + 1)
    const copy = read(sketch.toBytes())
    ;(copy as { merge(other: unknown): void }).merge(sketch)
    for (const [n, key] of hostileKeys.entries()) {
      expect([sketch.estimate(key), copy.estimate(key)]).toEqual([n + 1, 2 * (n + 1)])
    }
    const short = hostileKeys.filter((key) => key.length <= 256)
    expect(sketch.top().map(({ key }) => key)).toEqual(expect.arrayContaining(short))
  })

  test('keeps 300 characters of a megabyte, and distinguishes keys with the same beginning', () => {
    const sketch = make(8)
    const long = 'x'.repeat(MEGABYTE)
    const alike = [long, `${long}y`, 'x'.repeat(257), `${'x'.repeat(300)}\ud800`, `${'x'.repeat(300)}\ud801`]
    for (const [n, key] of alike.entries()) sketch.add(key, n + 1)
    expect(alike.map((key) => sketch.estimate(key))).toEqual([1, 2, 3, 4, 5])
    for (const { key } of sketch.top()) expect(key).toMatch(/^x{256}….{43}$/)
    expect(sketch.toBytes().length).toBeLessThan(make(8).toBytes().length + 8 * 650)
  })

  test('a key that equals the shortened form of a long key is a different key', () => {
    const sketch = make(8)
    const long = 'x'.repeat(1_000)
    sketch.add(long, 5)
    const [{ key: shown }] = sketch.top(1)
    sketch.add(shown, 3)
    expect([sketch.estimate(long), sketch.estimate(shown)]).toEqual([5, 3])
  })

  test('a key of 256 characters is listed unchanged', () => {
    const sketch = make(2)
    sketch.add('é'.repeat(256))
    expect(sketch.top(1)[0].key).toBe('é'.repeat(256))
  })

  test('keeps no reference to the long text that a key was cut from', () => {
    const sketch = make(64)
    const before = usedAfterGc()
    for (let n = 0; n < 40; n++) {
      const text = Buffer.alloc(MEGABYTE, 97 + (n % 26)).toString('latin1') + n
      sketch.add(text.slice(-30), 10)
    }
    expect(usedAfterGc() - before).toBeLessThan(10 * MEGABYTE)
    expect(sketch.top().length).toBe(40)
  })

  test('counts a non-string key as its text', () => {
    const sketch = make(4)
    for (const key of [7, '7', 7n]) sketch.add(key as string)
    expect(sketch.estimate('7')).toBe(3)
  })
})

function usedAfterGc(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}
