import { createKeyedHash } from '@sluice/limiter-core/keyed-hash'
import { halfSipHash, latin1First, proveHalfSipHash } from './half-sip-hash.mjs'

proveHalfSipHash()

class Noop {
  low = 0
  text(key) {
    this.low = key.length
  }
}

class Fnv1a {
  low = 0
  constructor([seed]) {
    this.seed = seed
  }
  text(key) {
    let hash = this.seed
    for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), fnvPrime)
    this.low = hash
  }
}

const fnvPrime = 0x01000193

class Murmur3 {
  low = 0
  constructor([seed]) {
    this.seed = seed
  }
  text(key) {
    const length = key.length
    let hash = this.seed
    for (let i = 0; i < length; i += 2) {
      let word = key.charCodeAt(i) | (i + 1 < length ? key.charCodeAt(i + 1) << 16 : 0)
      word = Math.imul(word, murmurFirst)
      hash ^= Math.imul((word << 15) | (word >>> 17), murmurSecond)
      hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0
    }
    hash ^= length
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
    this.low = hash ^ (hash >>> 16)
  }
}

const [murmurFirst, murmurSecond] = [0xcc9e2d51, 0x1b873593]

class MapGet {
  low = 0
  constructor(_, keys) {
    this.map = new Map(keys.map((key, n) => [key, n]))
  }
  text(key) {
    this.low = this.map.get(key)
  }
}

const [HalfSip13, HalfSip13Latin1, HalfSip24] = [halfSipHash(1, 3, 2), latin1First(1, 3), halfSipHash(2, 4, 2)]

/** `open(seed, keys)`: four random words, and the keys to hash. `bits` 0: not a hash, for comparison only. */
export const hashContenders = [
  { name: 'noop (loop + key)', bits: 0, open: () => new Noop() },
  { name: '@sluice/limiter-core/keyed-hash', bits: 64, open: (seed) => createKeyedHash(new Uint8Array(seed.buffer)) },
  { name: 'halfsiphash-1-3, latin1 packed', bits: 64, open: (seed) => new HalfSip13Latin1(seed) },
  { name: 'halfsiphash-1-3', bits: 64, open: (seed) => new HalfSip13(seed) },
  { name: 'halfsiphash-2-4', bits: 64, open: (seed) => new HalfSip24(seed) },
  { name: 'fnv1a 32 (unsafe)', bits: 32, open: (seed) => new Fnv1a(seed) },
  { name: 'murmur3 32 (unsafe)', bits: 32, open: (seed) => new Murmur3(seed) },
  { name: 'Map.get (yardstick)', bits: 0, open: (seed, keys) => new MapGet(seed, keys) },
]
