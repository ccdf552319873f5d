// Streams of keys and of values, the same in every run, with their exact counts.
import { SketchSeed } from '@sluice/sketches'
import { seededRandom } from '../run/random.mjs'

/** The secret of all sketches here, so that their errors are the same in every run. */
export const seedBytes = Buffer.from('the same in every run of a bench')
export const benchSeed = new SketchSeed(seedBytes)

const tail = '/api/v1/accounts/orders/items/search'

/** A 15- or 40-character key for each index below 2^24: an address, or an address and a route. */
export function keyText(index, length = 15) {
  const address = `10.${(index >>> 16) & 255}.${(index >>> 8) & 255}.${index & 255}`
  return `${address}${tail}`.slice(0, Math.max(length, address.length))
}

/** Ranks from 0 to `keys`; rank r has probability ln((r + 2) / (r + 1)) / ln(keys + 1), close to Zipf with s = 1. */
export function zipfRanks(keys, events, seed = 1) {
  const random = seededRandom(seed)
  return Uint32Array.from({ length: events }, () => Math.min(keys, Math.floor((keys + 1) ** random())) - 1)
}

export function uniformRanks(keys, events, seed = 1) {
  const random = seededRandom(seed)
  return Uint32Array.from({ length: events }, () => Math.floor(random() * keys))
}

export function countsOf(ranks, keys) {
  const counts = new Uint32Array(keys)
  for (const rank of ranks) counts[rank]++
  return counts
}

const valueStreams = {
  exponential: (random) => () => -50 * Math.log(1 - random()),
  // nine fast responses of about 5 ms for each slow one of about 500 ms
  bimodal: (random) => () => (random() < 0.9 ? 5 : 500) * Math.exp(0.3 * gaussian(random)),
}

export function valuesOf(name, count, seed = 7) {
  const next = valueStreams[name](seededRandom(seed))
  return Float64Array.from({ length: count }, next)
}

function gaussian(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

/** Mean and worst error of estimates, in millionths of all events, for keys with at least `least` counts. */
export function overcount(counts, estimateOf, events, least = 1) {
  let [sum, worst, seen] = [0, 0, 0]
  for (const [rank, count] of counts.entries()) {
    if (count < least) continue
    const error = Math.abs(estimateOf(rank) - count)
    sum += error
    worst = Math.max(worst, error)
    seen++
  }
  return { mean: (1e6 * sum) / seen / events, worst: (1e6 * worst) / events }
}

/** Number of keys in the scenario of the article, numbered from 0. */
export const articleKeys = 1_000_000

/** Calls `add` with `events` keys below `articleKeys`, from a very cheap generator. */
export function drawKeys(add, events, state) {
  let x = state | 0
  for (let n = 0; n < events; n++) {
    x = (Math.imul(x, 1_664_525) + 1_013_904_223) | 0
    // as int32, to avoid a double
    add((((x >>> 0) / 0x1_0000_0000) * articleKeys) | 0)
  }
  return x
}
