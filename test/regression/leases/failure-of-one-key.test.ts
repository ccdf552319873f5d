import { expect, test } from '@jest/globals'
import {
  algorithms,
  type Charge,
  type LeaseAsk,
  LeasingBackend,
  MemoryLedger,
  memoryBackend,
} from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { settled } from '../../leases/simulated-fleet.ts'

const terms = { fraction: 0.1, leaseMs: 2_000 }
const step = algorithms['token-bucket'].compile({
  name: 'x',
  algorithm: 'token-bucket',
  limit: 10_000,
  windowMs: 60_000,
})
const charge = (key: string): Charge => ({ key, step, count: 'c', cost: 1 })

test('while one key fails, leases of others are renewed before anybody has to wait', async () => {
  const clock = new FakeClock()
  const counts = new MemoryLedger('ledger', memoryBackend({ clock }), terms, () => clock.now())
  const wrongType = Object.assign(new Error('WRONGTYPE'), { code: 'WRONGTYPE', keyOnly: true })
  const ask = async (asks: readonly LeaseAsk[]) =>
    asks.map((one) => (one.key === 'faulty' ? wrongType : counts.ask([one])[0]))
  const backend = new LeasingBackend({ name: 'leased', exact: counts, ledger: { ask }, terms, clock })
  let waited = 0
  for (let takes = 0; takes < 2_000; takes++) {
    await expect(backend.take([charge('faulty')])).rejects.toBe(wrongType)
    const answer = backend.take([charge('sound')])
    if (answer instanceof Promise) waited++
    await answer
    await settled()
  }
  // the first ones, when a lease is small
  expect(waited).toBeLessThan(10)
  await backend.close()
})
