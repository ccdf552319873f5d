import { seededRandom } from '../../run/random.mjs'
import { nextStepAfter, valueAt } from './steps.mjs'

/**
 * Yields the arrivals `{ atMs, source }` of an open-loop load in the order of their times. Each source is a Poisson
 * process; `rate` are steps of requests per second. The same seed gives the same arrivals.
 */
export function* arrivals(sources, durationMs, seed) {
  const streams = sources.map(({ rate }, source) => {
    const random = seededRandom(seed * 1_000 + source)
    return { rate, source, random, atMs: arrivalAfter(0, rate, random) }
  })
  for (;;) {
    const first = streams.reduce((one, other) => (other.atMs < one.atMs ? other : one))
    if (first.atMs >= durationMs) return
    yield { atMs: first.atMs, source: first.source }
    first.atMs = arrivalAfter(first.atMs, first.rate, first.random)
  }
}

function arrivalAfter(fromMs, rate, random) {
  let atMs = fromMs
  for (;;) {
    const perSecond = valueAt(rate, atMs)
    const changesAt = nextStepAfter(rate, atMs)
    const due = perSecond > 0 ? atMs - (Math.log(1 - random()) * 1_000) / perSecond : Number.POSITIVE_INFINITY
    if (due < changesAt || changesAt === Number.POSITIVE_INFINITY) return due
    // a Poisson process has no memory, so it starts again with the new rate
    atMs = changesAt
  }
}
