import { checkOptions, fractionOption, wholeOption } from '../sketch-error.ts'
import { type BloomOptions, MAX_CAPACITY } from './bloom-options.ts'

/** Size of a RedisBloom filter. */
export interface RedisBloomSize {
  readonly bitsPerKey: number
  /** A multiple of 64. */
  readonly bits: number
  readonly hashes: number
}

/**
 * Returns the size of the filter that `BF.RESERVE key rate capacity NONSCALING` creates in RedisBloom: -ln p / (ln
 * 2)² bits per key, and ln 2 times that many hashes, rounded up. A scaling filter is built for half the rate. For
 * comparison, `BloomFilter` chooses the number of hashes that needs fewer bits. Throws `SLUICE_BAD_OPTION`.
 */
export function redisBloomSize(options: Omit<BloomOptions, 'seed'>): RedisBloomSize {
  checkOptions('redisBloomSize', options, ['capacity', 'errorRate'])
  const capacity = wholeOption('redisBloomSize capacity', options.capacity, 1, MAX_CAPACITY)
  const rate = fractionOption('redisBloomSize errorRate', options.errorRate ?? 0.01)
  const bitsPerKey = -Math.log(rate) / Math.LN2 ** 2
  const bits = Math.ceil(Math.floor(capacity * bitsPerKey) / 64) * 64
  return { bitsPerKey, bits, hashes: Math.ceil(Math.LN2 * bitsPerKey) }
}
