const M = 0xc6a4a7935bd1e995n
const MASK = 2n ** 64n - 1n
/** The seed of Redis's HyperLogLog. */
export const REDIS_SEED = 0xadc83b19n

/** MurmurHash64A as one reads it in a book. */
export function murmurOf(key: Uint8Array, seed: bigint): bigint {
  let h = seed ^ times(BigInt(key.length), M)
  const blocks = key.length >> 3
  for (let block = 0; block < blocks; block++)
    h = times(h ^ scrambled(wordOf(key.subarray(8 * block, 8 * block + 8))), M)
  const rest = key.subarray(8 * blocks)
  if (rest.length > 0) h = times(h ^ wordOf(rest), M)
  return shifted(times(shifted(h), M))
}

/** The key of 8 bytes that has this hash: every step of a block can be undone. */
export function keyOfHash(hash: bigint, seed: bigint): Uint8Array {
  const inverse = inverseOf(M)
  const h = times(shifted(times(shifted(hash), inverse)), inverse)
  const k = times(shifted(times(h ^ seed ^ times(8n, M), inverse)), inverse)
  return Uint8Array.from({ length: 8 }, (_, at) => Number((k >> BigInt(8 * at)) & 255n))
}

/** A key that Redis's HyperLogLog counts in this register with this rank, 1 to 51. `salt` tells such keys apart. */
export function redisKey(register: number, rank: number, salt = 0n): Uint8Array {
  const zeros = BigInt(rank - 1)
  const above = rank > 50 ? 0n : (1n | (salt << 1n)) << (14n + zeros)
  return keyOfHash((above & MASK) | BigInt(register), REDIS_SEED)
}

function scrambled(k: bigint): bigint {
  return times(shifted(times(k, M)), M)
}

/** Its own inverse. */
function shifted(x: bigint): bigint {
  return x ^ (x >> 47n)
}

function times(a: bigint, b: bigint): bigint {
  return (a * b) & MASK
}

function wordOf(bytes: Uint8Array): bigint {
  return bytes.reduceRight((word, byte) => (word << 8n) | BigInt(byte), 0n)
}

/** Modulo 2^64, by Newton's method: each step doubles the bits that are right. */
function inverseOf(odd: bigint): bigint {
  let x = odd
  for (let step = 0; step < 6; step++) x = times(x, 2n - odd * x)
  return x & MASK
}
