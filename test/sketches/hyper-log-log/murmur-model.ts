const M = 0xc6a4a7935bd1e995n
const MASK = 2n ** 64n - 1n
/** Seed that Redis uses for HyperLogLog. */
export const REDIS_SEED = 0xadc83b19n

/** MurmurHash64A, written directly from its definition. */
export function murmurOf(key: Uint8Array, seed: bigint): bigint {
  let h = seed ^ times(BigInt(key.length), M)
  const blocks = key.length >> 3
  for (let block = 0; block < blocks; block++)
    h = times(h ^ scrambled(wordOf(key.subarray(8 * block, 8 * block + 8))), M)
  const rest = key.subarray(8 * blocks)
  if (rest.length > 0) h = times(h ^ wordOf(rest), M)
  return shifted(times(shifted(h), M))
}

/** Returns the key of 8 bytes with the given hash: every step of a block is invertible. */
export function keyOfHash(hash: bigint, seed: bigint): Uint8Array {
  const inverse = inverseOf(M)
  const h = times(shifted(times(shifted(hash), inverse)), inverse)
  const k = times(shifted(times(h ^ seed ^ times(8n, M), inverse)), inverse)
  return Uint8Array.from({ length: 8 }, (_, at) => Number((k >> BigInt(8 * at)) & 255n))
}

/**
 * Returns a key that the HyperLogLog of Redis counts in the given register with the given rank, 1 to 51. Keys with
 * different `salt` differ.
 */
export function redisKey(register: number, rank: number, salt = 0n): Uint8Array {
  const zeros = BigInt(rank - 1)
  const above = rank > 50 ? 0n : (1n | (salt << 1n)) << (14n + zeros)
  return keyOfHash((above & MASK) | BigInt(register), REDIS_SEED)
}

function scrambled(k: bigint): bigint {
  return times(shifted(times(k, M)), M)
}

/** The function is its own inverse. */
function shifted(x: bigint): bigint {
  return x ^ (x >> 47n)
}

function times(a: bigint, b: bigint): bigint {
  return (a * b) & MASK
}

function wordOf(bytes: Uint8Array): bigint {
  return bytes.reduceRight((word, byte) => (word << 8n) | BigInt(byte), 0n)
}

/** Returns the inverse modulo 2^64, by Newton's method: each step doubles the number of correct bits. */
function inverseOf(odd: bigint): bigint {
  let x = odd
  for (let step = 0; step < 6; step++) x = times(x, 2n - odd * x)
  return x & MASK
}
