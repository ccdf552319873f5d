import { expect, test } from '@jest/globals'
import { type LeaseGrant, type LeaseRequest, LeasingBackend, MemoryLedger } from '@sluice/fleet/leases'
import { type AlgorithmName, createLimiter, memoryBackend } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

const terms = { fraction: 0.1, leaseMs: 100 }
const CAPACITY = 10_000

/** Leases whose answers are delayed by the given time. */
function slowLeases() {
  const clock = new FakeClock({ nowMs: 1_000 })
  const memory = new MemoryLedger('ledger', memoryBackend({ clock }), terms, () => clock.now())
  let tookMs = 0
  const ask = (asks: readonly LeaseRequest[]): Promise<readonly LeaseGrant[]> => {
    const grants = memory.request(asks)
    return new Promise((resolve) => clock.after(tookMs, () => resolve(grants)))
  }
  const backend = new LeasingBackend({ name: 'leased', exact: memory, ledger: { request: ask }, terms, clock })
  const takes = (ms: number): void => {
    tookMs = ms
  }
  return { clock, backend, memory, takes }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

test.each<AlgorithmName>(['fixed-window', 'sliding-window', 'token-bucket', 'gcra'])(
  'with %s, a request that waits for a lease that has ended in flight is sent again once, and charged once',
  async (algorithm) => {
    const { clock, backend, memory, takes } = slowLeases()
    const policies = [{ name: 'year', limit: CAPACITY, window: '365d', algorithm }] as const
    const limiter = createLimiter({ policies, backend, clock, scope: 'late', deadlineMs: 5_000 })
    takes(150)
    const taken = limiter.take('key', 20)
    await settled()
    takes(10)
    clock.advance(150)
    await settled()
    clock.advance(10)
    expect(await taken).toMatchObject({ allowed: true, counted: true })
    // denials are not cached either
    const next = limiter.take('key', 30)
    await settled()
    clock.advance(10)
    expect(await next).toMatchObject({ allowed: true, counted: true })
    limiter.close()
    const closed = backend.close()
    await settled()
    clock.advance(10)
    await closed
    const reader = createLimiter({ policies, backend: memory, clock, scope: 'late' })
    const { binding } = await reader.peek('key')
    // a fraction of a unit has drained from what was refunded to a bucket
    expect(CAPACITY - binding.remaining - 50).toBeLessThanOrEqual(1)
    expect(binding.remaining).toBeLessThanOrEqual(CAPACITY - 50)
    reader.close()
  },
)
