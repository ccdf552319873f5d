import type { CounterDeltas } from '@sluice/fleet/backend'
import { SluiceError, shown } from '@sluice/limiter-core/backend'
import { checkId } from './counter-id.ts'

const MAX_BATCH_IDS = 10_000
const EXPECTED_DELTA = 'an integer within ±(2^53 - 1)'

/** Throws `SLUICE_BAD_DELTA` unless `delta` is an integer within ±(2^53 - 1). */
export function checkDelta(delta: unknown): asserts delta is number {
  if (Number.isSafeInteger(delta)) return
  throw new SluiceError('SLUICE_BAD_DELTA', `delta: expected ${EXPECTED_DELTA}, received ${shown(delta)}`)
}

/**
 * Returns the deltas of a batch by id, with deltas of the same id added up. Throws `SLUICE_BAD_DELTA` and
 * `SLUICE_BAD_COUNTER_ID`.
 */
export function foldedDeltas(deltas: CounterDeltas): ReadonlyMap<string, number> {
  const amounts = new Map<string, number>()
  for (const [id, delta] of pairsOf(deltas)) {
    checkId(id)
    checkDelta(delta)
    const sum = (amounts.get(id) ?? 0) + delta
    checkDelta(sum)
    amounts.set(id, sum)
    if (amounts.size > MAX_BATCH_IDS) {
      throw new SluiceError('SLUICE_BAD_DELTA', `deltas: expected at most ${MAX_BATCH_IDS} ids, received more`)
    }
  }
  return amounts
}

function pairsOf(deltas: unknown): Iterable<readonly [unknown, unknown]> {
  if (typeof deltas === 'object' && deltas !== null) {
    if (!(Symbol.iterator in deltas)) return Object.entries(deltas)
    return eachPair(deltas as Iterable<unknown>)
  }
  throw new SluiceError(
    'SLUICE_BAD_DELTA',
    `deltas: expected an object or pairs of id and delta, received ${shown(deltas)}`,
  )
}

function* eachPair(deltas: Iterable<unknown>): Iterable<readonly [unknown, unknown]> {
  for (const pair of deltas) {
    if (!Array.isArray(pair) || pair.length !== 2) {
      throw new SluiceError('SLUICE_BAD_DELTA', `deltas: expected pairs [id, delta], received ${shown(pair)}`)
    }
    yield pair as [unknown, unknown]
  }
}
