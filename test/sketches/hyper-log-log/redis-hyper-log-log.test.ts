import { describe, expect, test } from '@jest/globals'
import { HyperLogLog, RedisHyperLogLog } from '@sluice/sketches'
import { eachSeed } from '@sluice/testkit'
import { codeOf, sketchContract } from '../contract/sketch-contract.ts'
import { redisKey } from './murmur-model.ts'

for (const sparseMaxBytes of [3_000, 60]) {
  sketchContract(`RedisHyperLogLog with sparse forms up to ${sparseMaxBytes} bytes`, {
    make: () => new RedisHyperLogLog({ sparseMaxBytes }),
    strangers: [() => new HyperLogLog() as unknown as RedisHyperLogLog, () => null as unknown as RedisHyperLogLog],
    feed: (sketch, { key }) => sketch.add(key),
    fromBytes: (bytes) => RedisHyperLogLog.fromBytes(bytes, { sparseMaxBytes }),
    answers: (sketch) => sketch.count(),
    // the registers are equal, but the runs of the sparse form depend on the order of the keys
    mergesExactly: false,
    idempotent: true,
  })
}

const hex = (sketch: RedisHyperLogLog): string => Buffer.from(sketch.toBytes()).toString('hex')

describe('RedisHyperLogLog', () => {
  test('has the published bytes of "a", and of "a", "b", "c" before and after counting', () => {
    const sketch = new RedisHyperLogLog()
    sketch.add('a')
    expect(hex(sketch)).toBe('48594c4c010000000000000000000080' + '71a6844e57')
    sketch.add('b')
    sketch.add('c')
    const runs = '60f38050b1844bfb80425a'
    expect(hex(sketch)).toBe(`48594c4c010000000000000000000080${runs}`)
    expect(sketch.cacheCount()).toBe(3)
    expect(hex(sketch)).toBe(`48594c4c010000000300000000000000${runs}`)
    sketch.add('c')
    expect(hex(sketch)).toBe(`48594c4c010000000300000000000000${runs}`)
    sketch.add('d')
    expect(hex(sketch).slice(0, 32)).toBe('48594c4c010000000300000000000080')
  })

  test('has the published counts', () => {
    const counts = (key: (n: number) => string | number, sizes: readonly number[]): number[] => {
      const sketch = new RedisHyperLogLog()
      let n = 0
      return sizes.map((size) => {
        for (; n < size; n++) sketch.add(key(n))
        if (size === 1_000) expect(sketch.toBytes()[4]).toBe(1)
        if (size === 10_000) expect(sketch.toBytes().length).toBe(12_304)
        return sketch.count()
      })
    }
    expect(counts(String, [10, 100, 1_000, 10_000, 100_000])).toEqual([10, 100, 1_001, 9_987, 99_565])
    expect(counts((n) => n, [10, 100, 1_000, 10_000, 100_000])).toEqual([10, 100, 1_001, 9_987, 99_565])
    expect(counts((n) => `element:${n}`, [1_000, 100_000])).toEqual([997, 100_039])
  })

  test('has 1,923 bytes after the numbers below a thousand', () => {
    const sketch = new RedisHyperLogLog()
    for (let n = 0; n < 1_000; n++) sketch.add(n)
    expect(sketch.toBytes().length).toBe(1_923)
  })

  test('counts the same in sparse and in dense form', () => {
    const [sparse, dense] = [20_000, 0].map((sparseMaxBytes) => new RedisHyperLogLog({ sparseMaxBytes }))
    for (let n = 0; n < 20_000; n++) {
      for (const sketch of [sparse, dense]) sketch.add(`key ${n}`)
      if (n % 500 === 0) expect(sparse.count()).toBe(dense.count())
    }
    expect([sparse.toBytes()[4], dense.toBytes()[4]]).toEqual([1, 0])
  })

  test('has the registers of both streams after a merge, and also their bytes if it is dense', async () => {
    await eachSeed(20, (random) => {
      const made = [0, 0, 0].map(() => new RedisHyperLogLog({ sparseMaxBytes: 0 }))
      const [one, other, both] = made
      for (let n = random.whole(2_000); n > 0; n--) {
        const key = `key ${random.whole(1_000)}`
        random.pick([one, other]).add(key)
        both.add(key)
      }
      one.merge(other)
      expect(Buffer.compare(one.toBytes(), both.toBytes())).toBe(0)
    })
  })

  test('reports exactly the registers that another sketch lacks', () => {
    const [one, other, both] = [new RedisHyperLogLog(), new RedisHyperLogLog(), new RedisHyperLogLog()]
    expect(one.beyond(other)).toBeUndefined()
    for (let n = 0; n < 3_000; n++) {
      both.add(`key ${n}`)
      if (n % 3 > 0) one.add(`key ${n}`)
      if (n % 3 < 2) other.add(`key ${n}`)
    }
    const lacking = one.beyond(other) as RedisHyperLogLog
    expect(lacking.count()).toBeLessThan(1_100)
    other.merge(lacking)
    expect(other.count()).toBe(both.count())
    expect(one.beyond(other)).toBeUndefined()
    expect(other.beyond(other)).toBeUndefined()
  })

  test('can be manipulated by chosen keys, since its seed is public; a secret seed prevents this', () => {
    const [redis, keyed] = [new RedisHyperLogLog(), new HyperLogLog()]
    for (let register = 0; register < 16_384; register++) {
      redis.add(redisKey(register, 45))
      keyed.add(redisKey(register, 45))
    }
    expect(redis.count()).toBeGreaterThan(1e15)
    expect(Math.abs(keyed.count() - 16_384)).toBeLessThan(16_384 * 0.05)
    const hidden = Array.from({ length: 1_000 }, (_, n) => redisKey(9, 1, BigInt(n)))
    const [unseen, seen] = [new RedisHyperLogLog(), new HyperLogLog()]
    for (const key of hidden) {
      unseen.add(key)
      seen.add(key)
    }
    expect(unseen.count()).toBe(1)
    expect(Math.abs(seen.count() - 1_000)).toBeLessThan(50)
  })

  test('does not trust the cached count in given bytes, but keeps it unchanged', () => {
    const sketch = new RedisHyperLogLog()
    sketch.add('red')
    const bytes = sketch.toBytes()
    bytes.set([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], 8)
    const read = RedisHyperLogLog.fromBytes(bytes)
    expect(read.count()).toBe(1)
    expect(read.toBytes()).toEqual(bytes)
    read.add('blue')
    expect(read.toBytes()[15]).toBe(0xff)
    expect(read.cacheCount()).toBe(2)
    expect([...read.toBytes().subarray(8, 16)]).toEqual([2, 0, 0, 0, 0, 0, 0, 0])
  })

  test.each([new Uint8Array(20_000), Buffer.alloc(20_000)])(
    'reads bytes at any offset of a larger buffer, and copies them',
    (larger) => {
      for (const size of [0, 50, 5_000]) {
        const sketch = new RedisHyperLogLog()
        for (let n = 0; n < size; n++) sketch.add(n)
        const bytes = sketch.toBytes()
        larger.set(bytes, 3)
        const read = RedisHyperLogLog.fromBytes(larger.subarray(3, 3 + bytes.length))
        expect(Buffer.compare(read.toBytes(), bytes)).toBe(0)
        for (let n = 0; n < 1_000; n++) read.add(`more ${n}`)
        expect(Buffer.compare(larger.subarray(3, 3 + bytes.length), bytes)).toBe(0)
      }
    },
  )
})

describe('RedisHyperLogLog rejects', () => {
  const header = [0x48, 0x59, 0x4c, 0x4c, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80]
  const sparse = (...runs: number[]): Uint8Array => Uint8Array.from([...header, ...runs])
  const zeros = [0x7f, 0xff]
  const dense = new RedisHyperLogLog({ sparseMaxBytes: 0 })
  dense.add('red')
  const changed = (at: number, byte: number): Uint8Array => {
    const bytes = dense.toBytes()
    bytes[at] = byte
    return bytes
  }

  test.each([
    ['nothing', new Uint8Array(0)],
    ['a part of a header', Uint8Array.from(header.slice(0, 15))],
    ['a header alone', sparse()],
    ['another magic', Uint8Array.from([0x48, 0x59, 0x4c, 0x4d, ...header.slice(4), ...zeros])],
    ['an unknown encoding', Uint8Array.from([...header.slice(0, 4), 2, ...header.slice(5), ...zeros])],
    ['nonzero reserved bytes', Uint8Array.from([...header.slice(0, 5), 1, ...header.slice(6), ...zeros])],
    ['runs of one register too few', sparse(0x7f, 0xfe)],
    ['runs of one register too many', sparse(...zeros, 0x00)],
    ['a run that extends beyond the last register', sparse(0x7f, 0xfe, 0x81)],
    ['a run that is cut in its middle', sparse(0x7f, 0xfe, 0x7f)],
    ['a run of two bytes with only one byte', sparse(0x7f)],
    ['sixteen million runs', new Uint8Array(16_000_000).fill(0x80).map((byte, at) => header[at] ?? byte)],
    ['a dense form that is a byte too short', dense.toBytes().subarray(0, 12_303)],
    ['a dense form that is a byte too long', Uint8Array.from([...dense.toBytes(), 0])],
    ['a dense form marked as sparse', changed(4, 1)],
    ['a rank of 52', changed(16, 52)],
    ['a rank of 63 in the last register', changed(12_303, 0xfc)],
    ['no bytes', 'HYLL' as unknown as Uint8Array],
    ['other bytes', new Uint16Array(8) as unknown as Uint8Array],
    ['an empty array', undefined as unknown as Uint8Array],
  ])('%s', (_what, bytes) => {
    expect(codeOf(() => RedisHyperLogLog.fromBytes(bytes))).toBe('SLUICE_BAD_BYTES')
  })

  test('no encodings that Redis can read but does not write', () => {
    const unjoined = sparse(0x00, 0x00, 0x40, 0x00, 0x84, 0x84, 0x7f, 0xfa - 1)
    const read = RedisHyperLogLog.fromBytes(unjoined.map((byte, at) => (at === unjoined.length - 1 ? 0xfa : byte)))
    expect(read.count()).toBe(2)
    for (let n = 0; n < 5_000; n++) read.add(`key ${n}`)
    expect(Math.abs(read.count() - 5_002)).toBeLessThan(200)
  })

  test('invalid options', () => {
    for (const sparseMaxBytes of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '3000']) {
      expect(codeOf(() => new RedisHyperLogLog({ sparseMaxBytes } as never))).toBe('SLUICE_BAD_OPTION')
    }
    expect(codeOf(() => new RedisHyperLogLog({ seed: 1 } as never))).toBe('SLUICE_BAD_OPTION')
  })
})
