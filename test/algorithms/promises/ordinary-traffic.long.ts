import { describe, expect, test } from '@jest/globals'
import { baseSeed, seededRandom } from '@sluice/testkit'
import { contenders, judge, row, streams } from './ordinary-traffic.ts'

// prints the table of docs/algorithms.md
describe.each(streams)('on a million requests of $name', ({ name, arrivals }) => {
  test.each(contenders)(
    '%s stays within 2 limits in any window',
    (contender, shape) => {
      const judged = judge(shape, arrivals(seededRandom(baseSeed()), 1_000_000))
      process.stdout.write(`${row(contender, name, judged)}\n`)
      expect(judged.worstWindow).toBeLessThanOrEqual(2)
    },
    600_000,
  )
})
