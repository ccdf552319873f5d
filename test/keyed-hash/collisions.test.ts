import { describe, expect, test } from '@jest/globals'
import { createKeyedHash } from '@sluice/limiter-core/keyed-hash'
import { forgedTwin, murmurLike } from './murmur-like.ts'
import { randomWords, seedAt } from './seeds.ts'
import { structuredKeys } from './structured-keys.ts'

const seeds = 10_000

describe('two keys forged to collide in a murmur-like hash', () => {
  const key = 'victim-key'
  const twin = forgedTwin(key)

  test('collide in the murmur-like hash under every seed', () => {
    expect(twin).not.toBe(key)
    const next = randomWords(1)
    const drawn = Array.from({ length: seeds }, next)
    expect(drawn.filter((seed) => murmurLike(key, seed) !== murmurLike(twin, seed))).toEqual([])
  })

  test('differ in both halves of the keyed hash under every seed', () => {
    const colliding = []
    for (let n = 0; n < seeds; n++) {
      const hash = createKeyedHash(seedAt(n))
      hash.text(key)
      const { low, high } = hash
      hash.text(twin)
      // the bound allows one equal pair of halves in 2³²
      if (hash.low === low || hash.high === high) colliding.push(n)
    }
    expect(colliding).toEqual([])
  })
})

test.each(Object.entries(structuredKeys))('a quarter of a million keys have distinct hashes: %s', (_, keyAt) => {
  const count = 250_000
  const halves = new Int32Array(2 * count)
  const hash = createKeyedHash(seedAt(2))
  for (let n = 0; n < count; n++) {
    hash.text(keyAt(n))
    halves[2 * n] = hash.low
    halves[2 * n + 1] = hash.high
  }
  const hashes = new BigUint64Array(halves.buffer).sort()
  expect(hashes.findIndex((value, i) => value === hashes[i - 1])).toBe(-1)
})
