import { expect, test } from '@jest/globals'
import { type LeaseGrant, type LeaseRequest, MemoryLedger } from '@sluice/fleet/leases'
import { type Charge, memoryBackend, type Policy } from '@sluice/limiter-core'
import { FakeClock, openedCounter } from '@sluice/testkit'

const terms = { fraction: 0.1, leaseMs: 2_000 }
const hundred: Policy = { name: 'hundred', algorithm: 'fixed-window', limit: 100, windowMs: 600_000 }
const nothing = { base: 0, spent: 0, keep: 0, want: 0, demand: 0, minimum: 1, need: 0 }

class Bench {
  readonly clock = new FakeClock({ nowMs: 1_000 })
  readonly ledger = new MemoryLedger('ledger', memoryBackend({ clock: this.clock }), terms, () => this.clock.now())
  readonly charge: Charge = { key: 'a', counter: openedCounter(this.ledger, 'c', hundred), cost: 1 }

  ask(owner: number, seq: number, parts: Partial<LeaseRequest>): LeaseGrant {
    return this.ledger.request([{ ...this.charge, owner, seq, ...nothing, ...parts }])[0]
  }
}

test('units that were admitted without the ledger are counted once by a take, although other units are leased', () => {
  for (const leased of [0, 10]) {
    const bench = new Bench()
    if (leased > 0) bench.ask(1, 1, { want: leased, demand: leased })
    const admitted = { uncounted: 5, unsure: 0, upTo: 0, ageMs: 10 }
    const known = { used: 0, resetAfterMs: 60_000, admitted }
    bench.ledger.takeAll([{ ...bench.charge, known }])
    expect(bench.ledger.peekAll([bench.charge]).verdicts[0].remaining).toBe(100 - leased - 5 - 1)
  }
})

test('units of a lease that the ledger has lost are charged once, although the reply to their report is lost', () => {
  const bench = new Bench()
  for (const seq of [2, 3]) expect(bench.ask(1, seq, { base: 1, spent: 5 }).charged).toBe(5)
})
