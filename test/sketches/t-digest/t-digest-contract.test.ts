import { TDigest } from '@sluice/sketches'
import { type SketchSubject, sketchContract } from '../contract/sketch-contract.ts'

/** Returns a number derived from the key: of both signs, integers and fractions, often equal for different keys. */
function numberOf(key: string): number {
  let value = 0
  for (let at = 0; at < key.length; at++) value = (value * 31 + key.charCodeAt(at)) % 1009
  return (value - 500) / 4
}

const shares = Array.from({ length: 41 }, (_, n) => n / 40)

function answers(digest: TDigest): unknown {
  return {
    count: digest.count,
    min: digest.min,
    max: digest.max,
    quantiles: shares.map((share) => digest.quantile(share)),
    shares: shares.map((share) => digest.cdf(250 * share - 125)),
    centroids: digest.centroids(),
  }
}

/**
 * The answers that do not depend on the order of centroids. For the possible difference of quantiles see
 * t-digest-errors.test.ts.
 */
function looseAnswers(digest: TDigest): unknown {
  const centroids = digest.centroids()
  const [first, last] = [centroids[0], centroids.at(-1)]
  return {
    count: digest.count,
    ends: [digest.min, digest.max],
    centroidEnds: [first?.mean, last?.mean],
    weighed: centroids.reduce((sum, { weight }) => sum + weight, 0),
    inOrder: centroids.every(({ mean }, at) => at === 0 || mean >= (centroids[at - 1]?.mean ?? 0)),
  }
}

function subject(compression: number, scale: 'k1' | 'k2'): SketchSubject<TDigest> {
  return {
    make: () => new TDigest({ compression, scale }),
    strangers: [
      () => new TDigest({ compression: compression + 1, scale }),
      () => new TDigest({ compression, scale: scale === 'k1' ? 'k2' : 'k1' }),
    ],
    feed: (digest, { key, amount }) => digest.add(numberOf(key), amount),
    fromBytes: (bytes) => TDigest.fromBytes(bytes),
    answers,
    mergesExactly: false,
    idempotent: false,
  }
}

// 500 values are buffered before the first compression: these answers are the same in any order, to the bit
sketchContract('A t-digest with all values buffered', subject(100, 'k2'))
sketchContract('A t-digest of the other scale', subject(100, 'k1'))
// 50 values are buffered, so that three streams are compressed on the way
sketchContract('A t-digest that compresses on the way', { ...subject(10, 'k2'), looseAnswers })
