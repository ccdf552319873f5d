import { expect, test } from '@jest/globals'
import type { AlgorithmName } from '@sluice/limiter-core'
import { algorithms, BookingPolicy } from '@sluice/limiter-core/backend'

// gcra stores times, so that another limit has cells of its own
const names = (Object.keys(algorithms) as AlgorithmName[]).filter((name) => name !== 'gcra')

function policyOf(algorithm: AlgorithmName, limit: number): BookingPolicy {
  return new BookingPolicy(algorithms[algorithm].compile({ name: 'p', algorithm, limit, windowMs: 60_000 }, 100))
}

/** Cells of a key that has used its limit of 5 and booked 50 turns, until about ten minutes later. */
function bookedCells(algorithm: AlgorithmName, now: number): Float64Array {
  const policy = policyOf(algorithm, 5)
  const cells = new Float64Array(policy.cells)
  for (let times = 0; times < 5; times++) policy.spend(cells, 0, now, 1)
  for (let times = 0; times < 50; times++) policy.book(cells, 0, now, 1)
  return cells
}

test.each(names)('callers do not wait for the pace of a limit that was raised since: %s', (algorithm) => {
  const cells = bookedCells(algorithm, 1e6)
  const raised = policyOf(algorithm, 50)
  // 45 units are free; the queue of the old limit lasts ten minutes
  expect(raised.waitMs(cells, 0, 1e6, 1)).toBe(0)
  for (let times = 0; times < 45; times++) raised.spend(cells, 0, 1e6, 1)
  expect(raised.waitMs(cells, 0, 1e6, 1)).toBeLessThanOrEqual(60_000)
})
