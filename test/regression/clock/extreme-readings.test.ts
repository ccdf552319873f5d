import { expect, test } from '@jest/globals'
import { childResult } from '../../floods/child.ts'

// regression: the search for the first passing millisecond never ended, because NaN never passes and 1e18 - 1 equals
// 1e18
test.concurrent.each([
  ['a charge of 2^53 - 1', 'huge-charge'],
  ['a time of NaN', 'nan-now'],
  ['a time of NaN, then a valid one', 'nan-then-now'],
  ['an infinite time', 'infinite-now'],
  ['a time in 31 million years', 'far-now'],
  ['a refund of a take at time NaN', 'nan-taken-at'],
])(
  'after %s a take by each algorithm answers, and other keys are unchanged',
  async (_what, name) => {
    const script = 'hostile/children/odd-moments.ts'
    const others = await childResult<number[]>(script, { args: [name], timeoutMs: 10_000 })
    expect(others).toEqual([97, 97, 97, 97, 97])
  },
  15_000,
)
