import { describe, expect, test } from '@jest/globals'
import { createKeyedHash, type KeyedHash } from '@sluice/limiter-core/keyed-hash'
import { numberOfRuns } from '@sluice/testkit'
import { baseSeed, randomWords, seedAt } from './seeds.ts'
import { structuredKeys } from './structured-keys.ts'

const sets = 2 ** 12
// not a power of two, so that a fast range uses more than the top bits
const oddSets = 4_093

const indexes: Readonly<Record<string, { sets: number; of: (hash: KeyedHash) => number }>> = {
  'low & mask': { sets, of: ({ low }) => low & (sets - 1) },
  'low, top bits': { sets, of: ({ low }) => low >>> 20 },
  'low, fast range': { sets: oddSets, of: ({ low }) => Math.floor(((low >>> 0) * oddSets) / 2 ** 32) },
  'high & mask': { sets, of: ({ high }) => high & (sets - 1) },
  'high, top bits': { sets, of: ({ high }) => high >>> 20 },
  'high, fast range': { sets: oddSets, of: ({ high }) => Math.floor(((high >>> 0) * oddSets) / 2 ** 32) },
}

describe.each(Object.entries(structuredKeys))('%s', (_, keyAt) => {
  test('fill sets like random numbers, whichever bits choose the set', () => {
    const deviations = Array.from({ length: numberOfRuns(40) }, (_, n) => setDeviations(seedAt(100 + n), keyAt)).flat()
    // with 240 samples per kind of key, chance exceeds 5.5 standard deviations on either side once in 100,000 runs
    expect(deviations.filter(({ sigmas }) => Math.abs(sigmas) > 5.5)).toEqual([])
    const mean = deviations.reduce((sum, { sigmas }) => sum + sigmas, 0) / deviations.length
    expect(Math.abs(mean)).toBeLessThan(0.5)
  })
})

/** Deviation of chi-square from its mean, in standard deviations: positive is clustered, negative is too even. */
function setDeviations(seed: Uint8Array, keyAt: (n: number) => string) {
  const keys = 16 * sets
  const hash = createKeyedHash(seed)
  const kinds = Object.entries(indexes).map(([name, index]) => ({ name, index, counts: new Uint32Array(index.sets) }))
  for (let n = 0; n < keys; n++) {
    hash.text(keyAt(n))
    for (const { index, counts } of kinds) counts[index.of(hash)]++
  }
  return kinds.map(({ name, counts }) => {
    const expected = keys / counts.length
    const chiSquare = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
    const freedom = counts.length - 1
    return { name, seed: Buffer.from(seed).toString('hex'), sigmas: (chiSquare - freedom) / Math.sqrt(2 * freedom) }
  })
}

describe('one flipped bit of a key', () => {
  test.each([
    ['a latin1 character', { prefix: '', length: 1, bits: 8 }],
    ['15 latin1 characters', { prefix: '', length: 15, bits: 8 }],
    ['15 characters of any kind', { prefix: '€', length: 15, bits: 16 }],
    ['the second block of a key', { prefix: 'x'.repeat(600), length: 15, bits: 8 }],
  ])('flips each bit of the hash half the time: %s', (_, shape) => {
    expect(flipShares(shape).filter(({ share }) => Math.abs(share - 0.5) > 0.02)).toEqual([])
  })
})

interface KeyShape {
  readonly prefix: string
  /** Random characters after the prefix, each of `bits` bits. */
  readonly length: number
  readonly bits: number
}

/** How often each of six bits of the key, from its first to its last, flips each bit of the hash. */
function flipShares({ prefix, length, bits }: KeyShape) {
  const random = randomWords(length + bits)
  const places = Array.from({ length: 6 }, (_, i) => Math.floor((i * (length * bits - 1)) / 5))
  const counts = places.map(() => new Uint32Array(64))
  const samples = 20_000
  let hash = createKeyedHash(seedAt(200))
  for (let sample = 0; sample < samples; sample++) {
    if (sample % 100 === 0) hash = createKeyedHash(seedAt(200 + sample / 100))
    const units = Array.from({ length }, () => random() & (2 ** bits - 1))
    hash.text(prefix + String.fromCharCode(...units))
    const { low, high } = hash
    for (const [i, place] of places.entries()) {
      const at = Math.floor(place / bits)
      const flipped = units.with(at, units[at] ^ (1 << (place % bits)))
      hash.text(prefix + String.fromCharCode(...flipped))
      countBits(counts[i], hash.low ^ low, hash.high ^ high)
    }
  }
  return counts.flatMap((count, i) =>
    Array.from(count, (flips, bit) => ({ baseSeed, keyBit: places[i], hashBit: bit, share: flips / samples })),
  )
}

function countBits(counts: Uint32Array, low: number, high: number): void {
  for (let bit = 0; bit < 32; bit++) {
    counts[bit] += (low >>> bit) & 1
    counts[32 + bit] += (high >>> bit) & 1
  }
}
