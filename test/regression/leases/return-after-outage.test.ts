import { describe, expect, test } from '@jest/globals'
import { type LeaseGrant, type LeaseRequest, LeasingBackend, MemoryLedger } from '@sluice/fleet/leases'
import { type AlgorithmName, createLimiter, memoryBackend } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

const terms = { fraction: 0.1, leaseMs: 400 }
const CAPACITY = 10_000

/** A process that leases from a ledger. The connection can break before requests arrive or before answers arrive. */
function scene(algorithm: AlgorithmName) {
  const clock = new FakeClock({ nowMs: 1_000 })
  const memory = new MemoryLedger('ledger', memoryBackend({ clock }), terms, () => clock.now())
  let broken: 'no' | 'before' | 'behind' = 'no'
  const ask = async (asks: readonly LeaseRequest[]): Promise<readonly LeaseGrant[]> => {
    const error = Object.assign(new Error('cut by a test'), { code: 'CONNECTION' })
    if (broken === 'before') throw error
    const grants = memory.request(asks)
    if (broken === 'behind') throw error
    return grants
  }
  const backend = new LeasingBackend({ name: 'leased', exact: memory, ledger: { request: ask }, terms, clock })
  const policies = [{ name: 'year', limit: CAPACITY, window: '365d', algorithm }] as const
  const limiter = createLimiter({ policies, backend, clock, scope: 'left', deadlineMs: 50 })
  const reader = createLimiter({ policies, backend: memory, clock, scope: 'left' })
  const passes = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 25) {
      clock.advance(25)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  /** Settles ended leases first. */
  const charged = async (): Promise<number> => CAPACITY - (await reader.peek('key')).binding.remaining
  const breaks = (how: typeof broken): void => {
    broken = how
  }
  return { limiter, backend, passes, charged, breaks, close: () => reader.close() }
}

describe.each<AlgorithmName>(['fixed-window', 'sliding-window', 'token-bucket', 'gcra'])('with %s', (algorithm) => {
  test.each([
    ['before', 0],
    ['before', 150],
    ['behind', 0],
    ['behind', 150],
  ] as const)(
    'a quiet key is charged what was spent, even if its lease ended while the connection was broken (%s, after %d ms)',
    async (how, ms) => {
      const { limiter, backend, passes, charged, breaks, close } = scene(algorithm)
      for (let taken = 0; taken < 60; taken++) await limiter.take('key')
      // time in which spent units are reported, and some units are left
      await passes(ms)
      breaks(how)
      await passes(2_000)
      breaks('no')
      await passes(3_000)
      const left = await charged()
      expect(left).toBeGreaterThanOrEqual(60)
      // a fraction of a unit has drained from what was refunded to a bucket
      expect(left).toBeLessThanOrEqual(61)
      limiter.close()
      await backend.close()
      close()
    },
  )
})
