import { seededRandom } from '../run/random.mjs'

/** The largest share of seeds, 0 to 1, under which one pair of forged keys collides. */
export function collidingShare({ bits, open }, seeds) {
  const random = seededRandom(21)
  const shares = forgedPairs.map(([one, other]) => {
    let colliding = 0
    for (let n = 0; n < seeds; n++) {
      const hash = open(seedFrom(random))
      hash.text(one)
      const { low, high } = hash
      hash.text(other)
      if (hash.low === low && (bits === 32 || hash.high === high)) colliding++
    }
    return colliding / seeds
  })
  return Math.max(...shares)
}

/** Worst distance of chi-square over 4,096 sets from its mean, in standard deviations, for any choice of set bits. */
export function worstSpread({ bits, open }, seeds) {
  const random = seededRandom(22)
  let worst = 0
  for (let n = 0; n < seeds; n++) {
    const hash = open(seedFrom(random))
    for (const keyAt of structuredKeys) worst = Math.max(worst, ...deviations(hash, bits, keyAt).map(Math.abs))
  }
  return worst
}

export function seedFrom(random) {
  return Int32Array.from({ length: 4 }, () => random() * 2 ** 32)
}

const sets = 4_096
const keys = 16 * sets

function deviations(hash, bits, keyAt) {
  const counts = Array.from({ length: bits / 16 }, () => new Uint32Array(sets))
  for (let n = 0; n < keys; n++) {
    hash.text(keyAt(n))
    counts[0][hash.low & (sets - 1)]++
    counts[1][hash.low >>> 20]++
    if (bits === 32) continue
    counts[2][hash.high & (sets - 1)]++
    counts[3][hash.high >>> 20]++
  }
  return counts.map((count) => {
    const chiSquare = count.reduce((sum, held) => sum + (held - keys / sets) ** 2 / (keys / sets), 0)
    return (chiSquare - (sets - 1)) / Math.sqrt(2 * (sets - 1))
  })
}

const structuredKeys = [
  (n) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`,
  (n) => `user-${String(n).padStart(9, '0')}`,
  (n) => `2001:db8:0:${n.toString(16)}::/64`,
  (n) => `tenant/${String.fromCharCode(n)}/key`,
]

// fnv1a: its prime to the power of 2¹⁵ is 1 mod 2¹⁷, so after 32,768 steps over NUL a flipped bit 15 is unchanged
const zeros = '\0'.repeat(2 ** 15)
// murmur3: the first words differ by a bit that two steps do not change, and the second words cancel it
const forgedPairs = [
  [`\u8000${zeros}`, `${zeros}\u8000`],
  ['abcd', String.fromCharCode(...undone('ab', 1 << 18), ...undone('cd', 1 << 31))],
]

/** Returns two characters whose mixed murmur3 word differs from the word of `pair` only by `bits`. */
function undone(pair, bits) {
  const turned = Math.imul(pair.charCodeAt(0) | (pair.charCodeAt(1) << 16), 0xcc9e2d51)
  const mixed = Math.imul((turned << 15) | (turned >>> 17), 0x1b873593) ^ bits
  const unmixed = Math.imul(mixed, inverse(0x1b873593))
  const word = Math.imul((unmixed << 17) | (unmixed >>> 15), inverse(0xcc9e2d51))
  return [word & 0xffff, word >>> 16]
}

/** Inverse of an odd number mod 2³², by Newton's iteration. */
function inverse(odd) {
  let result = odd
  for (let i = 0; i < 5; i++) result = Math.imul(result, 2 - Math.imul(odd, result))
  return result
}
