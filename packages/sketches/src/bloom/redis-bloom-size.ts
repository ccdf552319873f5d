import { checkOptions, fractionOption, wholeOption } from '../sketch-error.ts'
import { type BloomOptions, MOST_CAPACITY } from './bloom-options.ts'

/** What a filter of RedisBloom takes. */
export interface RedisBloomSize {
  readonly bitsPerKey: number
  /** A multiple of 64. */
  readonly bits: number
  readonly hashes: number
}

/**
 * What `BF.RESERVE key rate capacity NONSCALING` of RedisBloom makes: -ln p / (ln 2)² bits a key, and that times ln 2,
 * rounded up, of hashes. A filter that may scale is built for half the rate. For comparison: `BloomFilter` takes the
 * number of hashes that needs fewer bits. Throws `SLUICE_BAD_OPTION`.
 */
export function redisBloomSize(options: Omit<BloomOptions, 'seed'>): RedisBloomSize {
  checkOptions('redisBloomSize', options, ['capacity', 'errorRate'])
  const capacity = wholeOption('redisBloomSize capacity', options.capacity, 1, MOST_CAPACITY)
  const rate = fractionOption('redisBloomSize errorRate', options.errorRate ?? 0.01)
  const bitsPerKey = -Math.log(rate) / Math.LN2 ** 2
  const bits = Math.ceil(Math.floor(capacity * bitsPerKey) / 64) * 64
  return { bitsPerKey, bits, hashes: Math.ceil(Math.LN2 * bitsPerKey) }
}
