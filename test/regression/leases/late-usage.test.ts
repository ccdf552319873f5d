import { expect, test } from '@jest/globals'
import { type LeaseGrant, type LeaseLedger, LeasingBackend, MemoryLedger } from '@sluice/fleet/leases'
import { memoryBackend, type Policy } from '@sluice/limiter-core'
import type { PriorUsage } from '@sluice/limiter-core/backend'
import { FakeClock, openedCounter } from '@sluice/testkit'
import { settled } from '../../leases/settled.ts'

const terms = { fraction: 0.1, leaseMs: 2_000 }
const policy: Policy = { name: 'api', algorithm: 'fixed-window', limit: 100, windowMs: 3_600_000 }
const admitted = { uncounted: 5, unsure: 0, upTo: 0, ageMs: 10 }

// units that a limiter considers uncounted are reported again
test.each<[string, PriorUsage | undefined, boolean]>([
  [
    'with units that were admitted without the ledger may have been counted',
    { used: 0, resetAfterMs: 1_000, admitted },
    true,
  ],
  ['without known usage has certainly not been counted', undefined, false],
])('a request that receives its reply after the deadline %s', async (_, known, mayHaveCounted) => {
  const clock = new FakeClock({ nowMs: 1_000 })
  const memory = new MemoryLedger('ledger', memoryBackend({ clock }), terms, () => clock.now())
  const ledger: LeaseLedger = {
    request(asks) {
      const grants = memory.request(asks)
      return new Promise<readonly LeaseGrant[]>((resolve) => clock.after(60, () => resolve(grants)))
    },
  }
  const backend = new LeasingBackend({ name: 'leased', exact: memory, ledger, terms, clock })
  const charge = { key: 'a', counter: openedCounter(backend, 'c', policy), cost: 1, known }
  const taken = Promise.resolve(backend.takeAll([charge], { deadlineAt: clock.now() + 50 }))
  const failed = expect(taken).rejects.toMatchObject({ code: 'LATE', mayHaveCounted })
  await settled()
  clock.advance(60)
  await failed
})
