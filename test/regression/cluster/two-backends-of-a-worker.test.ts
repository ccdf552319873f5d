import { expect, test } from '@jest/globals'
import type { Backend, Charge } from '@sluice/limiter-core/backend'
import { FakeClock, openedCounter } from '@sluice/testkit'
import { PairedPrimary } from '../../cluster/paired.ts'

const clock = new FakeClock()
const terms = { fraction: 0.1, leaseMs: 2_000 }

function charge(backend: Backend, limit: number): Charge {
  const policy = { name: 'x', algorithm: 'fixed-window', limit, windowMs: 60_000 } as const
  return { key: 'k', counter: openedCounter(backend, `limit-${limit}`, policy), cost: 1 }
}

// one policy that is leased, and one that is sent to the primary each time
test.each([
  [500, 1_000],
  [5, 20],
])(
  'two backends of one worker that send requests in one turn receive their own counts, %d and %d',
  async (few, many) => {
    const primary = new PairedPrimary(terms, clock)
    const port = primary.port()
    const [a, b] = [primary.worker(port), primary.worker(port)]
    const [much, little] = [charge(a, many), charge(b, few)]
    const answers = await Promise.all([a.takeAll([much]), b.takeAll([little]), b.peekAll([little])])
    expect(answers.map(({ verdicts }) => verdicts[0].remaining)).toEqual([many - 1, few - 1, few - 1])
    await Promise.all([a.close?.(), b.close?.()])
  },
)
