import { describe, expect, test } from '@jest/globals'
import { type LeaseGrant, type LeaseRequest, LeasingBackend } from '@sluice/fleet/leases'
import { type Answer, type Backend, type Charge, memoryBackend, type Policy } from '@sluice/limiter-core'
import { FakeClock, openedCounter } from '@sluice/testkit'
import { settled } from './settled.ts'

const hundred: Policy = {
  name: 'calls',
  algorithm: 'fixed-window',
  limit: 100,
  windowMs: 31 * 86_400_000,
  calendar: { per: 'month', timeZone: 'UTC' },
}
const hour: Policy = { name: 'hour', algorithm: 'fixed-window', limit: 100, windowMs: 3_600_000 }
const terms = { fraction: 0.1, leaseMs: 2_000 }

/** A process that leases from a ledger. The test sets the capacity of each key and the end of its period. */
class Bench {
  readonly clock = new FakeClock({ nowMs: 1_000 })
  readonly asks: LeaseRequest[] = []
  readonly exact: Backend<Answer> = memoryBackend({ clock: this.clock })
  readonly backend = this.process()
  capacity = 100
  charged = 0
  /** Changes that the test makes to what the ledger grants. */
  more: Partial<LeaseGrant> = {}
  failure: Error | undefined
  #held = 0

  process(exact: Backend = this.exact, keepsCalendars?: boolean): LeasingBackend {
    const ledger = { request: (asks: readonly LeaseRequest[]) => asks.map((ask) => this.#grant(ask)) }
    return new LeasingBackend({ name: 'leased', exact, ledger, terms, keepsCalendars, clock: this.clock })
  }

  charge(cost: number, policy = hundred, advisory = false): Charge {
    return { key: 'a', counter: openedCounter(this.backend, 'periods', policy), cost, advisory }
  }

  async take(cost: number, policy = hundred) {
    const answer = await this.backend.takeAll([this.charge(cost, policy)])
    return answer.verdicts[0]
  }

  #grant(ask: LeaseRequest): LeaseGrant {
    this.asks.push(ask)
    if (this.failure) throw this.failure
    this.charged += ask.spent
    this.#held = ask.keep
    const free = Math.max(0, this.capacity - this.charged - this.#held)
    const granted = free < ask.minimum ? 0 : Math.min(free, ask.want)
    this.#held += granted
    const resetAfterMs = 1e6
    const retryAfterMs = ask.need <= free ? 0 : ask.need > this.capacity ? Number.POSITIVE_INFINITY : resetAfterMs
    const units = { granted, free: free - granted, charged: this.charged }
    return { ...units, retryAfterMs, resetAfterMs, now: this.clock.now(), ...this.more }
  }
}

describe('a lease of a key with a calendar period', () => {
  test('ends with the period, however long its own duration is', async () => {
    const bench = new Bench()
    bench.more = { leaseMs: 300 }
    await bench.take(1)
    bench.clock.advance(299)
    expect(bench.backend.takeHeld([bench.charge(1)])).toBeDefined()
    bench.clock.advance(1)
    expect(bench.backend.takeHeld([bench.charge(1)])).toBeUndefined()
  })

  test('ends after its own duration if the period is longer', async () => {
    const bench = new Bench()
    bench.more = { leaseMs: 1e9 }
    await bench.take(1)
    bench.failure = new Error('away')
    const held: boolean[] = []
    for (const ms of [600, 600, 600, 199, 1]) {
      bench.clock.advance(ms)
      await settled()
      held.push(bench.backend.takeHeld([bench.charge(1)]) !== undefined)
    }
    expect(held).toEqual([true, true, true, true, false])
  })

  test('whose period is over when it arrives is requested again, and spent from the next period', async () => {
    const bench = new Bench()
    bench.more = { leaseMs: 0 }
    const taken = bench.take(1)
    await settled()
    bench.more = {}
    expect((await taken).allowed).toBe(true)
  })

  test.each<[string, Partial<LeaseGrant>]>([
    ['a lease that is not a number', { leaseMs: Number.NaN }],
    ['an infinite lease', { leaseMs: Number.POSITIVE_INFINITY }],
    ['a negative lease', { leaseMs: -1 }],
    ['a capacity that is not a number', { capacity: Number.NaN }],
    ['an infinite capacity', { capacity: Number.POSITIVE_INFINITY }],
    ['a negative capacity', { capacity: -1 }],
    ['fractional units', { capacity: 0.5 }],
    ['an unknown fund', { fund: 'gift' as never }],
  ])('is rejected with %s', async (_, more) => {
    const bench = new Bench()
    bench.more = more
    await expect(bench.take(1)).rejects.toMatchObject({ code: 'MALFORMED' })
  })
})

describe('a key with a capacity above its policy', () => {
  test('reports the remaining units of its capacity', async () => {
    const bench = new Bench()
    bench.capacity = 150
    bench.more = { capacity: 150 }
    expect(await bench.take(1)).toMatchObject({ allowed: true, remaining: 149 })
  })

  test('is granted a cost above the policy while nothing is known about the key', async () => {
    const bench = new Bench()
    bench.capacity = 150
    bench.more = { capacity: 150 }
    expect(await bench.take(120)).toMatchObject({ allowed: true, remaining: 30 })
  })

  test('is granted a cost above the policy if it is known to fit, and never a cost above its capacity', async () => {
    const bench = new Bench()
    bench.capacity = 150
    bench.more = { capacity: 150 }
    await bench.take(1)
    expect(await bench.take(151)).toMatchObject({ allowed: false, retryAfterMs: Number.POSITIVE_INFINITY })
    expect(bench.asks.at(-1)).toMatchObject({ demand: 0 })
    expect(await bench.take(149)).toMatchObject({ allowed: true, remaining: 0 })
  })

  test('waits for the end of the period with a cost that exceeds the remaining units', async () => {
    const bench = new Bench()
    bench.capacity = 150
    bench.more = { capacity: 150 }
    await bench.take(100)
    expect(await bench.take(120)).toMatchObject({ allowed: false, retryAfterMs: 1e6 })
  })

  test('is requested again when its period is over, because the next period may have a larger capacity', async () => {
    const bench = new Bench()
    await bench.take(1)
    expect((await bench.take(120)).retryAfterMs).toBe(Number.POSITIVE_INFINITY)
    bench.clock.advance(1e6)
    bench.capacity = 150
    bench.charged = 0
    bench.more = { capacity: 150 }
    expect((await bench.take(120)).allowed).toBe(true)
  })

  test('reports the retry time to callers that wait at the same time as a cost that never fits', async () => {
    const bench = new Bench()
    bench.charged = 100
    const both = await Promise.all([bench.take(1), bench.take(500)])
    expect(both.map(({ retryAfterMs }) => retryAfterMs)).toEqual([1e6, Number.POSITIVE_INFINITY])
  })
})

describe('a key with a capacity below its policy', () => {
  test('never reports more than its capacity, and is never granted a cost above it', async () => {
    const bench = new Bench()
    bench.capacity = 20
    bench.more = { capacity: 20 }
    expect(await bench.take(1)).toMatchObject({ allowed: true, remaining: 19 })
    expect(await bench.take(21)).toMatchObject({ allowed: false, retryAfterMs: Number.POSITIVE_INFINITY })
  })
})

test('a cost above the limit of a policy without a calendar is not requested from the ledger', async () => {
  const bench = new Bench()
  expect(await bench.take(120, hour)).toMatchObject({ allowed: false, retryAfterMs: Number.POSITIVE_INFINITY })
  expect(bench.asks).toMatchObject([{ demand: 0, need: 100 }])
})

describe('the source of the leased units', () => {
  test('is part of the verdict and its JSON, for one charge and for several', async () => {
    const bench = new Bench()
    bench.more = { fund: 'top-up' }
    expect(await bench.take(1)).toMatchObject({ allowed: true, fund: 'top-up' })
    const { counter } = bench.charge(1)
    const decision = await counter.take('a', 1)
    expect(decision.binding).toMatchObject({ fund: 'top-up' })
    expect(JSON.parse(JSON.stringify(decision)).binding).toMatchObject({ fund: 'top-up' })
    const two = await bench.backend.takeAll([bench.charge(1), bench.charge(1, hundred, true)])
    expect(two.verdicts.map(({ fund }) => fund)).toEqual(['top-up', 'top-up'])
  })

  test('of a denial is the one that lacked units', async () => {
    const bench = new Bench()
    bench.charged = 100
    bench.more = { fund: 'included' }
    expect(await bench.take(1)).toMatchObject({ allowed: false, fund: 'included' })
  })

  test('is absent if the ledger does not report one', async () => {
    const bench = new Bench()
    expect(Object.keys(await bench.take(1))).not.toContain('fund')
  })
})

describe('a leasing backend', () => {
  test('supports calendar periods if its options say so', () => {
    const bench = new Bench()
    expect(bench.process().keepsCalendars).toBeUndefined()
    expect(bench.process(bench.exact, true).keepsCalendars).toBe(true)
  })

  test('receives passed requests if the exact backend receives them', () => {
    const bench = new Bench()
    expect(bench.process().passed).toBeUndefined()
    const heard: [readonly Charge[], number][] = []
    const exact: Backend = { ...asBackend(bench.exact), passed: (...passed) => heard.push(passed) }
    const backend = bench.process(exact)
    const counter = openedCounter(backend, 'passed', hundred)
    backend.passed?.([{ key: 'a', counter, cost: -2 }], 17)
    expect(heard).toMatchObject([[[{ key: 'a', cost: -2, counter: { name: counter.name } }], 17]])
    expect(heard[0][0][0].counter).not.toBe(counter)
  })

  test('asks the exact backend whether an unanswered request may count', () => {
    const bench = new Bench()
    const small: Policy = { ...hundred, name: 'small', limit: 5 }
    const undoes: Backend = { ...asBackend(bench.exact), mayCountUnanswered: () => false }
    const mayCount = (backend: LeasingBackend): boolean =>
      backend.mayCountUnanswered({ key: 'a', counter: openedCounter(backend, 'late', small) })
    expect(mayCount(bench.process())).toBe(true)
    expect(mayCount(bench.process(undoes))).toBe(false)
  })
})

function asBackend(backend: Backend<Answer>): Backend {
  return {
    name: backend.name,
    open: (...args) => backend.open(...args),
    takeAll: (...args) => backend.takeAll(...args),
    peekAll: (...args) => backend.peekAll(...args),
    adjustAll: (...args) => backend.adjustAll(...args),
    resetAll: (keys) => backend.resetAll(keys),
  }
}
