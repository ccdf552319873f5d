import { rateAfter } from './bloom-rate.ts'
import { type BloomShape, LINE_CELLS } from './bloom-shape.ts'

/** Bits of a key in its block. More never pays: the blocks that are fuller by chance make the rate. */
const MAX_BLOCK_HASHES = 16
/** Bits of keys that a block may have been given. After eight times as many as it has, all but one in 3,000 are set. */
const MAX_THROWS = 8 * LINE_CELLS

/**
 * The rate where each block holds `keys` on average, and a Poisson number of them in truth: the mean of the rates of
 * blocks of each number (Putze, Sanders and Singler 2007).
 */
export function blockedRate(keys: number, hashes: number): number {
  return poissonMean(keys, ratesOfBlocks(hashes))
}

/** The fewest blocks of 512 bits that keep `rate` at `capacity` keys, and how many bits of its block a key sets. */
export function blockedBloomShape(capacity: number, rate: number): BloomShape {
  let best = { keys: 0, hashes: 1 }
  // at most as many as a filter without blocks, and at least half of that
  const most = Math.min(MAX_BLOCK_HASHES, Math.ceil(-Math.log2(rate)))
  for (let hashes = Math.ceil(most / 2); hashes <= most; hashes++) {
    const keys = mostKeys(rate, ratesOfBlocks(hashes))
    if (keys > best.keys) best = { keys, hashes }
  }
  return { cells: Math.max(1, Math.ceil(capacity / best.keys)) * LINE_CELLS, hashes: best.hashes }
}

/** Finds by bisection how many keys a block may hold on average. */
function mostKeys(rate: number, rates: Float64Array): number {
  let [least, most] = [0, 1]
  while (most < rates.length / 2 && poissonMean(most, rates) < rate) most *= 2
  for (let step = 0; step < 40; step++) {
    const middle = (least + most) / 2
    if (poissonMean(middle, rates) <= rate) least = middle
    else most = middle
  }
  return least
}

// by hashes, 110 KB in all: they cost more than all the rest of a small filter
const known: Float64Array[] = []

/** The rate of a block of 0, 1, 2 … keys. */
function ratesOfBlocks(hashes: number): Float64Array {
  known[hashes] ??= Float64Array.from({ length: Math.ceil(MAX_THROWS / hashes) }, (_, keys) =>
    rateAfter(keys * hashes, LINE_CELLS, hashes),
  )
  return known[hashes]
}

function poissonMean(mean: number, rates: Float64Array): number {
  // with this many keys every bit of a block is set; the sum would be as long as the number is large
  if (mean >= rates.length) return 1
  if (mean === 0) return 0
  // beyond nine deviations lies less than 10⁻¹⁷ of all blocks
  const spread = 9 * Math.sqrt(mean) + 20
  const from = Math.max(0, Math.floor(mean - spread))
  const to = Math.min(rates.length - 1, Math.ceil(mean + spread))
  let chance = Math.exp(from * Math.log(mean) - mean - logFactorial(from))
  let sum = 0
  for (let keys = from; keys <= to; keys++) {
    sum += chance * rates[keys]
    chance *= mean / (keys + 1)
  }
  return sum
}

function logFactorial(n: number): number {
  let sum = 0
  for (let factor = 2; factor <= n; factor++) sum += Math.log(factor)
  return sum
}
