import type { SeededRandom } from '@sluice/testkit'
import { redisKey } from './murmur-model.ts'

const kinds: readonly ((n: number) => string)[] = [
  (n) => String(n),
  (n) => `10.${(n >>> 16) & 255}.${(n >>> 8) & 255}.${n & 255}`,
  (n) => `user-${String(n).padStart(6, '0')}`,
  (n) => `https://example.org/of/all/things/${n}/and/what/they/cost`,
  (n) => `naïve-☃-${n}`,
  (n) => `\ud800${n}`,
]

/** Draws a key from `among` keys of each kind; once in 3,000 a key with a rank that only forging can produce. */
export function anyKey(random: SeededRandom, among: number): string | Uint8Array {
  if (random.whole(3_000) === 0) return redisKey(random.whole(16_384), 28 + random.whole(24))
  return random.pick(kinds)(random.whole(among))
}

/** Like `anyKey`, without keys that end the sparse form at once. */
export function modestKey(random: SeededRandom, among: number): string | Uint8Array {
  // adjacent registers and few ranks, so that runs are split and joined all the time
  if (random.whole(3) === 0) return redisKey(random.whole(300), 1 + random.whole(4), BigInt(random.whole(9)))
  if (random.whole(500) === 0) return redisKey(random.whole(16_384), 25 + random.whole(8))
  return random.pick(kinds)(random.whole(among))
}

export function sent(key: string | Uint8Array): string | Buffer {
  return typeof key === 'string' ? key : Buffer.from(key)
}
