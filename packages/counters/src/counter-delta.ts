import type { CounterDeltas } from '@sluice/limiter-core'
import { SluiceError, shown } from '@sluice/limiter-core/backend'
import { checkId } from './counter-id.ts'

/** Of one call of `incrementMany`. */
const MOST_DELTAS = 10_000
const EXPECTED_DELTA = 'a whole number within ±(2^53 - 1)'

/** Throws `SLUICE_BAD_DELTA` unless `delta` is a whole number that a double holds exactly. */
export function checkDelta(delta: unknown): asserts delta is number {
  if (Number.isSafeInteger(delta)) return
  throw new SluiceError('SLUICE_BAD_DELTA', `delta: expected ${EXPECTED_DELTA}, received ${shown(delta)}`)
}

/** The deltas of a batch by id, those of one id added up. Throws `SLUICE_BAD_DELTA` and `SLUICE_BAD_COUNTER_ID`. */
export function foldedDeltas(deltas: CounterDeltas): ReadonlyMap<string, number> {
  const amounts = new Map<string, number>()
  for (const [id, delta] of pairsOf(deltas)) {
    checkId(id)
    checkDelta(delta)
    const sum = (amounts.get(id) ?? 0) + delta
    checkDelta(sum)
    amounts.set(id, sum)
    if (amounts.size > MOST_DELTAS) {
      throw new SluiceError(
        'SLUICE_BAD_DELTA',
        `deltas: expected ${MOST_DELTAS} at most, received more than ${MOST_DELTAS} ids`,
      )
    }
  }
  return amounts
}

function pairsOf(deltas: unknown): Iterable<readonly [unknown, unknown]> {
  if (typeof deltas === 'object' && deltas !== null) {
    if (!(Symbol.iterator in deltas)) return Object.entries(deltas)
    return eachPair(deltas as Iterable<unknown>)
  }
  throw new SluiceError('SLUICE_BAD_DELTA', `deltas: expected pairs of id and delta, received ${shown(deltas)}`)
}

function* eachPair(deltas: Iterable<unknown>): Iterable<readonly [unknown, unknown]> {
  for (const pair of deltas) {
    if (!Array.isArray(pair) || pair.length !== 2) {
      throw new SluiceError('SLUICE_BAD_DELTA', `deltas: expected pairs of id and delta, received ${shown(pair)}`)
    }
    yield pair as [unknown, unknown]
  }
}
