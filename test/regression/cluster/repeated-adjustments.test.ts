import { expect, test } from '@jest/globals'
import type { Port } from '@sluice/fleet'
import { createLimiter } from '@sluice/limiter-core'
import type { Charge, Moment } from '@sluice/limiter-core/backend'
import { FakeClock, openedCounter } from '@sluice/testkit'
import { PairedPrimary } from '../../cluster/paired.ts'

const terms = { fraction: 0.1, leaseMs: 2_000 }
const policy = { name: 'x', algorithm: 'fixed-window', limit: 20, windowMs: 60_000 } as const

test('the primary applies an adjustment that a worker repeats once', async () => {
  const clock = new FakeClock()
  const primary = new PairedPrimary(terms, clock)
  const backend = primary.worker()
  const charge: Charge = { key: 'k', counter: openedCounter(backend, 'c', policy), cost: 10 }
  const { takenAt } = await backend.takeAll([charge])
  const moment: Moment = { idempotencyKey: { id: 'once', issuedAt: clock.now() } }
  for (let times = 0; times < 3; times++) {
    const { verdicts } = await backend.adjustAll([{ ...charge, cost: -2 }], takenAt, moment)
    expect(verdicts[0].remaining).toBe(12)
  }
  await backend.close?.()
})

test('a refund counts once, although the answer of the primary is lost', async () => {
  const clock = new FakeClock()
  const primary = new PairedPrimary(terms, clock)
  const port = primary.port() as Port & { deliver: (message: unknown) => void }
  const deliver = port.deliver.bind(port)
  const backend = primary.worker(port)
  const policies = [{ name: 'x', algorithm: 'fixed-window', limit: 20, window: '1m' }] as const
  const limiter = createLimiter({ policies, backend, clock, deadlineMs: 500 })
  const taken = await limiter.take('k', 10)
  port.deliver = () => {}
  const refunded = limiter.charge('k', -2, taken)
  await afterTheseImmediates(2)
  clock.advance(1_500)
  await refunded
  port.deliver = deliver
  for (let round = 0; round < 20; round++) {
    clock.advance(1_000)
    await limiter.peek('k')
    await afterTheseImmediates(5)
  }
  expect((await limiter.peek('k')).binding.remaining).toBe(12)
  limiter.close()
  await backend.close?.()
})

async function afterTheseImmediates(count: number): Promise<void> {
  for (let times = 0; times < count; times++) await new Promise((resolve) => setImmediate(resolve))
}
