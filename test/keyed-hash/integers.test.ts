import { describe, expect, test } from '@jest/globals'
import { createKeyedHash } from '@sluice/limiter-core/keyed-hash'
import fc from 'fast-check'
import { definedIntegerHash } from './definition.ts'
import { bytesHash, hex, integerHash, textHash } from './hashes.ts'
import { seedAt } from './seeds.ts'

const edges = [0, 1, 2 ** 15, 2 ** 16, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 48, 2 ** 53 - 1]
const integers = [...new Set(edges.flatMap((edge) => [edge, -edge, -edge - 1]))].filter(Number.isSafeInteger)

describe('an integer', () => {
  const hash = createKeyedHash(seedAt(0))

  test.each(integers)('is hashed as defined: %i', (key) => {
    expect(integerHash(hash, key)).toBe(hex(definedIntegerHash(seedAt(0), key)))
  })

  test('is hashed as defined under any seed', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.integer(), fc.nat(), (far, near, n) => {
        for (const key of [far, near]) {
          expect(integerHash(createKeyedHash(seedAt(n)), key)).toBe(hex(definedIntegerHash(seedAt(n), key)))
        }
      }),
      { numRuns: 60 },
    )
  })

  test('has its own hash, different from the hashes of its text and its bytes', () => {
    const others = integers.flatMap((key) => [
      textHash(hash, String(key)),
      bytesHash(hash, new Uint8Array(new Float64Array([key]).buffer)),
      textHash(hash, String.fromCharCode(...new Uint16Array(new BigInt64Array([BigInt(key)]).buffer))),
    ])
    const all = new Set([...integers.map((key) => integerHash(hash, key)), ...others])
    expect(all.size).toBe(integers.length + new Set(others).size)
    expect(integerHash(hash, 7)).not.toBe(textHash(hash, '7'))
  })

  test('leaves no trace of the previous key', () => {
    const keys = [5, -5, 2 ** 40, -(2 ** 40), 2 ** 31]
    for (const before of keys) {
      for (const key of keys) {
        hash.integer(before)
        expect(integerHash(hash, key)).toBe(integerHash(createKeyedHash(seedAt(0)), key))
      }
    }
  })

  test('has equal hashes for 0 and -0', () => {
    expect(integerHash(hash, -0)).toBe(integerHash(hash, 0))
  })

  test('is hashed to two small integers', () => {
    for (const key of integers) {
      hash.integer(key)
      expect([hash.low, hash.high]).toEqual([hash.low | 0, hash.high | 0])
    }
  })
})

/** Under the seed 00 01 … 0f: `high`, then `low`. Changing a value changes the format. */
const knownAnswers: readonly (readonly [key: number, hash: string])[] = [
  [0, '3708a702a68aba93'],
  [1, 'e300b4cebdf12837'],
  [-1, '26915456e3d318dc'],
  [7, 'ac55c5dc36980444'],
  [65535, '5f9c9988a6d1a4f6'],
  [65536, 'f51a5b89e2094018'],
  [2147483647, 'd78b8f4ca83700f7'],
  [2147483648, '024ab53b98a922e1'],
  [-2147483648, '7b56c3e94d890fd1'],
  [-2147483649, '2558a46eee6a6a1f'],
  [4294967295, '4ad5d54bf0ac5d55'],
  [4294967296, 'd6a691c4ec34e951'],
  [-4294967296, 'b91866ac84dfddfb'],
  [-4294967297, '1521f7b63e9d1077'],
  [1735689600000, '2921ab89ba48a7f4'],
  [9007199254740991, '5889f01bab53ef9e'],
  [-9007199254740991, '6b905c952f81f46d'],
]

test('the hashes of integers under the seed 00 01 … 0f equal those of the first release', () => {
  const hash = createKeyedHash(Uint8Array.from({ length: 16 }, (_, i) => i))
  expect(knownAnswers.map(([key]) => [key, integerHash(hash, key)])).toEqual(knownAnswers)
})

const rows: Readonly<Record<string, (n: number) => number>> = {
  'from 0 on': (n) => n,
  'from -1 down': (n) => -1 - n,
  'around 2^31 and 2^32': (n) => 2 ** 31 - 500_000 + (n % 2) * 2 ** 31 + n,
  'times 2^32': (n) => n * 2 ** 32,
  'times 1024 beyond 2^40': (n) => 2 ** 40 + 1024 * n,
}

describe.each(Object.entries(rows))('consecutive integers, %s,', (_, keyAt) => {
  test('have a million distinct hashes', () => {
    const count = 1_000_000
    const halves = new Int32Array(2 * count)
    const hash = createKeyedHash(seedAt(3))
    for (let n = 0; n < count; n++) {
      hash.integer(keyAt(n))
      halves[2 * n] = hash.low
      halves[2 * n + 1] = hash.high
    }
    const hashes = new BigUint64Array(halves.buffer).sort()
    expect(hashes.findIndex((value, i) => value === hashes[i - 1])).toBe(-1)
  })

  test('fill sets like random numbers, whichever bits choose the set', () => {
    const deviations = Array.from({ length: 20 }, (_, n) => setDeviations(seedAt(300 + n), keyAt)).flat()
    expect(deviations.filter(({ sigmas }) => Math.abs(sigmas) > 5.5)).toEqual([])
  })
})

/** Deviation of chi-square from its mean, in standard deviations, for the 12-bit pieces of a hash. */
function setDeviations(seed: Uint8Array, keyAt: (n: number) => number) {
  const sets = 2 ** 12
  const keys = 16 * sets
  const hash = createKeyedHash(seed)
  const counts = Array.from({ length: 4 }, () => new Uint32Array(sets))
  for (let n = 0; n < keys; n++) {
    hash.integer(keyAt(n))
    counts[0][hash.low & (sets - 1)]++
    counts[1][hash.low >>> 20]++
    counts[2][hash.high & (sets - 1)]++
    counts[3][hash.high >>> 20]++
  }
  return counts.map((count, piece) => {
    const chiSquare = count.reduce((sum, met) => sum + (met - keys / sets) ** 2 / (keys / sets), 0)
    return {
      piece,
      seed: Buffer.from(seed).toString('hex'),
      sigmas: (chiSquare - sets + 1) / Math.sqrt(2 * (sets - 1)),
    }
  })
}
