import { describe, expect, test } from '@jest/globals'
import { LEASE_GRACE_FACTOR, type LeaseGrant, type LeaseRequest, MemoryLedger } from '@sluice/fleet/leases'
import { type Charge, memoryBackend, type Policy } from '@sluice/limiter-core'
import { FakeClock, openedCounter } from '@sluice/testkit'

const terms = { fraction: 0.1, leaseMs: 2_000 }
const hundred: Policy = { name: 'hundred', algorithm: 'fixed-window', limit: 100, windowMs: 60_000 }
class Bench {
  readonly clock = new FakeClock({ nowMs: 1_000 })
  readonly ledger = new MemoryLedger('ledger', memoryBackend({ clock: this.clock }), terms, () => this.clock.now())

  charge(scope = 'ledger'): Charge {
    return { key: 'a', counter: openedCounter(this.ledger, scope, hundred), cost: 1 }
  }

  ask(owner: number, seq: number, parts: Partial<LeaseRequest>): LeaseGrant {
    const nothing = { base: 0, spent: 0, keep: 0, want: 0, demand: 0, minimum: 1, need: 0 }
    return this.ledger.request([{ ...this.charge(), owner, seq, ...nothing, ...parts }])[0]
  }

  get free(): number {
    return this.ledger.peekAll([this.charge()]).verdicts[0].remaining
  }
}

describe('a ledger', () => {
  test('charges units of an ended lease that its owner reports within a minute', () => {
    for (const awayMs of [2_100, 5_000, 50_000]) {
      const bench = new Bench()
      bench.ask(1, 1, { want: 20, demand: 20 })
      bench.clock.advance(2_100)
      expect(bench.free).toBe(80)
      bench.clock.advance(awayMs - 2_100)
      for (const seq of [2, 2, 3]) expect(bench.ask(1, seq, { base: 1, spent: 12 }).charged).toBe(12)
      expect(bench.ask(1, 4, { base: 1, spent: 13 }).charged).toBe(13)
    }
  })

  test('refunds nothing from a lease that had ended when the key was reset', () => {
    const bench = new Bench()
    bench.ask(1, 1, { want: 20, demand: 20 })
    bench.clock.advance(3_000)
    bench.ledger.resetAll([bench.charge()])
    bench.ledger.takeAll([{ ...bench.charge(), cost: 30 }])
    expect(bench.ask(1, 2, { base: 1, spent: 5 }).charged).toBe(35)
  })

  test('ignores known and admitted usage from before a reset', () => {
    const bench = new Bench()
    bench.clock.advance(1_000)
    bench.ledger.resetAll([bench.charge()])
    bench.clock.advance(100)
    const admitted = { uncounted: 5, unsure: 5, upTo: 50 }
    const known = { used: 50, resetAfterMs: 60_000 }
    bench.ledger.takeAll([
      { ...bench.charge(), cost: 0, known: { ...known, ageMs: 200, admitted: { ...admitted, ageMs: 150 } } },
    ])
    bench.ask(1, 1, { known: { ...known, ageMs: 100 } })
    expect(bench.free).toBe(100)
    bench.ask(1, 2, { known: { ...known, used: 0, ageMs: 200, admitted: { ...admitted, ageMs: 50 } } })
    expect(bench.free).toBe(90)
    bench.ledger.adjustAll([{ ...bench.charge(), cost: 0, known: { ...known, ageMs: 50 } }], bench.clock.now())
    expect(bench.free).toBe(50)
  })

  test('grants what requests wait for, and a part of the remaining units in addition', () => {
    const bench = new Bench()
    expect(bench.ask(1, 1, { want: 50 })).toMatchObject({ granted: 10, free: 90 })
    expect(bench.ask(2, 1, { want: 50, demand: 30 })).toMatchObject({ granted: 30, free: 60 })
    expect(bench.ask(3, 1, { want: 90, demand: 90, minimum: 1, need: 90 })).toMatchObject({ granted: 60, free: 0 })
  })

  test('grants nothing if it cannot grant the minimum', () => {
    const bench = new Bench()
    bench.ask(1, 1, { want: 95, demand: 95 })
    const { granted, retryAfterMs } = bench.ask(2, 1, { want: 7, demand: 7, minimum: 7, need: 7 })
    expect(granted).toBe(0)
    expect(retryAfterMs).toBeGreaterThan(0)
  })

  test('ignores a request that was overtaken by a later request of the same lease', () => {
    const bench = new Bench()
    bench.ask(1, 2, { want: 20, demand: 20 })
    expect(bench.ask(1, 1, { spent: 3, want: 20, demand: 20 })).toMatchObject({ granted: 0, free: 80 })
    expect(bench.free).toBe(80)
  })

  test('charges spent units once, even if the answer was lost and they are reported again', () => {
    const bench = new Bench()
    bench.ask(1, 1, { want: 20, demand: 20 })
    bench.ask(1, 2, { base: 1, spent: 5, keep: 15 })
    bench.ask(1, 3, { base: 1, spent: 8, keep: 12 })
    bench.ask(1, 4, { base: 3, spent: 2, keep: 0 })
    expect(bench.free).toBe(90)
  })

  test('charges a lease that is no longer reported in full, exactly when it ends', () => {
    const bench = new Bench()
    bench.ask(1, 1, { want: 20, demand: 20 })
    bench.clock.advance(2_000)
    expect(bench.ledger.keys).toBe(1)
    bench.clock.advance(2_000 * (LEASE_GRACE_FACTOR - 1) + 1)
    bench.ledger.sweep()
    expect(bench.free).toBe(80)
    // for 60 s from its end, not from its grant
    bench.clock.advance(59_000)
    expect(bench.free).toBe(80)
    bench.clock.advance(1_000)
    expect(bench.free).toBe(100)
    bench.ledger.sweep()
    expect(bench.ledger.keys).toBe(0)
  })

  test('admits next to leases at most what they leave, all or nothing', () => {
    const bench = new Bench()
    bench.ask(1, 1, { want: 95, demand: 95 })
    const [denied] = bench.ledger.takeAll([{ ...bench.charge(), cost: 6 }]).verdicts
    expect(denied).toMatchObject({ allowed: false, remaining: 5 })
    const [taken] = bench.ledger.takeAll([{ ...bench.charge(), cost: 5 }]).verdicts
    expect(taken).toMatchObject({ allowed: true, remaining: 0, retryAfterMs: 0 })
    const many = bench.ledger.takeAll([bench.charge('other'), bench.charge()])
    expect(many.verdicts.map((verdict) => verdict.allowed)).toEqual([true, false])
    expect(bench.ledger.peekAll([bench.charge('other')]).verdicts[0].remaining).toBe(100)
    const shadow = bench.ledger.takeAll([bench.charge('other'), { ...bench.charge(), advisory: true }])
    expect(shadow.verdicts.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [true, 99],
      [false, 0],
    ])
  })
})
