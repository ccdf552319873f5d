import { expect, test } from '@jest/globals'
import { childResult } from '../../floods/child.ts'

// the search for the first passing millisecond never ended: NaN passes never, and 1e18 - 1 is 1e18
test.concurrent.each([
  ['a charge of 2^53 - 1', 'huge-charge'],
  ['a moment that is NaN', 'nan-now'],
  ['a moment that is NaN, then a real one', 'nan-then-now'],
  ['a moment that is Infinity', 'infinite-now'],
  ['a moment in 31 million years', 'far-now'],
  ['a refund of what was taken at NaN', 'nan-taken-at'],
])(
  'after %s a take by each algorithm answers, and other keys are as they were',
  async (_what, name) => {
    const script = 'hostile/children/odd-moments.ts'
    const others = await childResult<number[]>(script, { args: [name], timeoutMs: 10_000 })
    expect(others).toEqual([97, 97, 97, 97, 97])
  },
  15_000,
)
