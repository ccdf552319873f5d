import { expect, test } from '@jest/globals'
import type { Charge } from '@sluice/limiter-core/backend'
import { FakeClock, openedCounter } from '@sluice/testkit'
import { PairedPrimary } from '../../cluster/paired.ts'

// more than a function call may have arguments
const CROWD = 150_000

test('150,000 requests that wait for one ledger request are all answered, and as many are admitted as fit', async () => {
  const primary = new PairedPrimary({ fraction: 0.1, leaseMs: 2_000 }, new FakeClock())
  const backend = primary.worker()
  const policy = { name: 'x', algorithm: 'fixed-window', limit: 1_000, windowMs: 60_000 } as const
  const charge: Charge = { key: 'k', counter: openedCounter(backend, 'c', policy), cost: 1 }
  const answers = await Promise.all(Array.from({ length: CROWD }, () => backend.takeAll([charge])))
  expect(answers.filter(({ verdicts }) => verdicts[0].allowed)).toHaveLength(1_000)
  await backend.close?.()
})
