import { checkOptions, fractionOption, wholeOption } from '../sketch-error.ts'
import { type BloomOptions, MOST_EXPECTED } from './bloom-options.ts'

/** What a filter of RedisBloom takes. */
export interface RedisBloomSize {
  readonly bitsPerKey: number
  /** A multiple of 64. */
  readonly bits: number
  readonly hashes: number
}

/**
 * What `BF.RESERVE key rate expected NONSCALING` of RedisBloom makes: -ln p / (ln 2)² bits a key, and that times ln 2,
 * rounded up, of hashes. A filter that may scale is built for half the rate. For comparison: `BloomFilter` takes the
 * number of hashes that needs fewer bits. Throws `SLUICE_BAD_OPTION`.
 */
export function redisBloomSize(options: Omit<BloomOptions, 'seed'>): RedisBloomSize {
  checkOptions('redisBloomSize', options, ['expected', 'falsePositiveRate'])
  const expected = wholeOption('redisBloomSize expected', options.expected, 1, MOST_EXPECTED)
  const rate = fractionOption('redisBloomSize falsePositiveRate', options.falsePositiveRate ?? 0.01)
  const bitsPerKey = -Math.log(rate) / Math.LN2 ** 2
  const bits = Math.ceil(Math.floor(expected * bitsPerKey) / 64) * 64
  return { bitsPerKey, bits, hashes: Math.ceil(Math.LN2 * bitsPerKey) }
}
