import type { SeededRandom } from './seeded-random.ts'

/** One request of a stream. */
export interface Arrival {
  /** Ms since the start of the stream; never less than that of the arrival before. */
  readonly atMs: number
  /** Number of the client: 0 is the busiest. */
  readonly key: number
}

/** Draws the next value of a stream. */
export type Draw = () => number

/** Keys from 0 to `keys`, each as likely. */
export function uniformKeys(random: SeededRandom, keys: number): Draw {
  return () => random.whole(keys)
}

/**
 * Keys from 0 to `keys`, key n with a weight of 1 / (n + 1) ^ `exponent`: 0 is uniform, 1 the usual shape of clients
 * of a service. Costs 8 bytes a key.
 */
export function zipfKeys(random: SeededRandom, keys: number, exponent = 1): Draw {
  const reached = new Float64Array(keys)
  let sum = 0
  for (let key = 0; key < keys; key++) {
    sum += 1 / (key + 1) ** exponent
    reached[key] = sum
  }
  return () => firstAtLeast(reached, random.next() * sum)
}

/** Gaps in ms between independent arrivals, `meanMs` on average (a Poisson stream). */
export function poissonGaps(random: SeededRandom, meanMs: number): Draw {
  return () => -Math.log(1 - random.next()) * meanMs
}

/** Gaps of 0 within bursts of `size` arrivals, and of `meanMs` on average between them. */
export function burstGaps(random: SeededRandom, size: number, meanMs: number): Draw {
  const pause = poissonGaps(random, meanMs)
  let drawn = 0
  return () => (drawn++ % size === 0 ? pause() : 0)
}

/** `count` arrivals, each `gap()` ms after the one before and by `key()`. Times are whole ms where `wholeMs` is set. */
export function* traffic(count: number, gap: Draw, key: Draw, wholeMs = false): Generator<Arrival> {
  let atMs = 0
  for (let made = 0; made < count; made++) {
    atMs += gap()
    yield { atMs: wholeMs ? Math.floor(atMs) : atMs, key: key() }
  }
}

function firstAtLeast(sorted: Float64Array, value: number): number {
  let low = 0
  let high = sorted.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle] < value) low = middle + 1
    else high = middle
  }
  return low
}
