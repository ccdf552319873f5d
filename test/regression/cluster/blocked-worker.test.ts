import { expect, test } from '@jest/globals'
import type { Charge } from '@sluice/limiter-core/backend'
import { FakeClock, openedCounter } from '@sluice/testkit'
import { PairedPrimary } from '../../cluster/paired.ts'

const policy = { name: 'x', algorithm: 'fixed-window', limit: 20, windowMs: 60_000 } as const

test('a worker whose event loop was blocked beyond the deadline uses the answer that arrived meanwhile', async () => {
  const clock = new FakeClock()
  const primary = new PairedPrimary({ fraction: 0.1, leaseMs: 2_000 }, clock)
  const backend = primary.worker()
  const charge: Charge = { key: 'k', counter: openedCounter(backend, 'c', policy), cost: 1 }
  await backend.takeAll([charge])
  const taken = Promise.resolve(backend.takeAll([charge], { deadlineAt: clock.now() + 50 }))
  const answered = expect(taken).resolves.toMatchObject({ verdicts: [{ allowed: true, remaining: 18 }] })
  // the primary has answered, and the worker has not received the answer
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve))
  clock.advance(200)
  await answered
  await backend.close?.()
})
