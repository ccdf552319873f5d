import { expect, test } from '@jest/globals'
import { type LeaseRequest, LeasingBackend, MemoryLedger } from '@sluice/fleet/leases'
import { type Charge, memoryBackend, type Policy } from '@sluice/limiter-core'
import { FakeClock, openedCounter } from '@sluice/testkit'
import { settled } from '../../leases/settled.ts'

const terms = { fraction: 0.1, leaseMs: 2_000 }
const policy: Policy = { name: 'x', algorithm: 'token-bucket', limit: 10_000, windowMs: 60_000 }

test('while one key fails, leases of other keys are renewed before any request has to wait', async () => {
  const clock = new FakeClock()
  const counts = new MemoryLedger('ledger', memoryBackend({ clock }), terms, () => clock.now())
  const wrongType = Object.assign(new Error('WRONGTYPE'), { code: 'WRONGTYPE', keyOnly: true })
  const ask = async (asks: readonly LeaseRequest[]) =>
    asks.map((one) => (one.key === 'faulty' ? wrongType : counts.request([one])[0]))
  const backend = new LeasingBackend({ name: 'leased', exact: counts, ledger: { request: ask }, terms, clock })
  const counter = openedCounter(backend, 'c', policy)
  const charge = (key: string): Charge => ({ key, counter, cost: 1 })
  let waited = 0
  for (let takes = 0; takes < 2_000; takes++) {
    await expect(backend.takeAll([charge('faulty')])).rejects.toBe(wrongType)
    const answer = backend.takeAll([charge('sound')])
    if (answer instanceof Promise) waited++
    await answer
    await settled()
  }
  // the first requests, while the lease is small
  expect(waited).toBeLessThan(10)
  await backend.close()
})
