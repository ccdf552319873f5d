import { describe, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import { createQuotas, type QuotasOptions, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'
import { MemoryQuotaTable } from '../../../packages/counters/src/ledger/memory-quota-table.ts'
import type { QuotaTable } from '../../../packages/counters/src/ledger/quota-table.ts'
import { requestLease } from '../../../packages/quotas/src/account/account-leases.ts'
import { QuotaAccount } from '../../../packages/quotas/src/account/quota-account.ts'
import { emptyState } from '../../../packages/quotas/src/account/quota-state.ts'
import { CalendarPeriods } from '../../../packages/quotas/src/calendar/calendar-periods.ts'
import { balanceOf } from '../../../packages/quotas/src/quota-balance.ts'
import { FaultyQuotaTable, type QuotaIntrusion, quotasOnly } from '../../quotas/faults/faulty-quota-table.ts'
import { BehindTable } from '../../quotas/faults/lagging-table.ts'

const NAMES = { policy: 'calls', scope: 'tests' } as const
const NEVER = new Promise<void>(() => {})

const turn = (): Promise<void> => new Promise((resolve) => afterThisTurn(resolve))

interface LabQuota {
  readonly limit?: number
  readonly deadlineMs?: number
  readonly per?: 'day' | 'month'
  readonly carryOver?: number
}

/** Several processes over one table in memory, each with its own faults. */
class Lab {
  readonly clock = new FakeClock({ wallMs: Date.UTC(2026, 10, 2) })
  readonly servers = new BehindTable(
    new MemoryQuotaTable(() => this.clock.wall()),
    new MemoryQuotaTable(() => this.clock.wall()),
  )
  readonly table: QuotaTable = this.servers.table

  join(
    intrusion: QuotaIntrusion = {},
    { limit = 50, deadlineMs = 60_000, per = 'month', carryOver = 0, ...options }: QuotasOptions & LabQuota = {},
  ) {
    const { clock } = this
    const ledger = quotasOnly(new FaultyQuotaTable(this.table, intrusion))
    const quotas = createQuotas(ledger, { clock, waitMs: 100, ...options })
    const policies = [quota({ name: 'calls', limit, per, carryOver, backend: quotas })]
    const limiter = createLimiter({ policies, clock, scope: NAMES.scope, deadlineMs, onBackendError: 'allow' })
    return { quotas, limiter }
  }

  /** Advances the clock in steps, and lets the database work after each step. */
  async advance(ms: number): Promise<void> {
    for (let moved = 0; moved < ms; moved += 50) {
      for (let i = 0; i < 3; i++) await turn()
      this.clock.advance(50)
    }
    for (let i = 0; i < 3; i++) await turn()
  }

  async of<T>(asked: T | Promise<T>): Promise<T> {
    let isSettled = false
    const settled = (): void => {
      isSettled = true
    }
    Promise.resolve(asked).then(settled, settled)
    for (let i = 0; i < 2_000 && !isSettled; i++) await this.advance(50)
    expect(isSettled).toBe(true)
    return asked
  }
}

describe('a write without an answer', () => {
  test('that answers after its account was read again is not counted twice', async () => {
    const lab = new Lab()
    let arrive = (): void => {}
    let isHeld = false
    const { quotas, limiter } = lab.join({
      before: (call) => {
        if (!isHeld || call !== 'commit') return undefined
        isHeld = false
        return new Promise((resolve) => {
          arrive = resolve
        })
      },
      // just after its account was read
      after: (call) => (call === 'read' ? arrive() : undefined),
    })
    await lab.of(limiter.take('a'))
    isHeld = true
    expect((await lab.of(limiter.take('a'))).counted).toBe(false)
    await lab.advance(12_000)
    expect(await lab.of(quotas.balance('a', NAMES))).toMatchObject({ used: 2 })
    await lab.of(quotas.close())
  })

  test('that was lost is not taken as a sign of a lagging server', async () => {
    const lab = new Lab()
    let fails = false
    const { quotas } = lab.join({ before: (call) => (fails && call === 'commit' ? NEVER : undefined) })
    const other = lab.join()
    await lab.of(quotas.topUp('a', 5, { token: 'one', ...NAMES }))
    fails = true
    await expect(lab.of(quotas.topUp('a', 5, { token: 'two', ...NAMES }))).rejects.toMatchObject({
      code: 'SLUICE_COUNTERS_UNAVAILABLE',
    })
    fails = false
    await lab.advance(6_000)
    // work of another process must not be merged with the old state of this process
    await lab.of(other.quotas.reserve('a', 3, { id: 'r', ttlMs: '1h', ...NAMES }))
    await lab.of(other.quotas.void('a', 'r', NAMES))
    await lab.of(other.quotas.reserve('a', 4, { id: 's', ttlMs: '1h', ...NAMES }))
    expect(await lab.of(quotas.balance('a', NAMES))).toMatchObject({ reserved: 4, topUpLeft: 5 })
    await lab.of(quotas.close())
    await lab.of(other.quotas.close())
  })

  test('with one token does not affect other accounts', async () => {
    const lab = new Lab()
    let fails = false
    const { quotas } = lab.join({ before: (call) => (fails && call === 'usedToken' ? NEVER : undefined) })
    await lab.of(quotas.topUp('a', 5, { token: 'one', ...NAMES }))
    fails = true
    void quotas.balance('b', NAMES)
    const refused = quotas.topUp('a', 5, { token: 'one', ...NAMES })
    for (let i = 0; i < 5; i++) await turn()
    const balance = quotas.balance('b', NAMES)
    await expect(lab.of(refused)).rejects.toMatchObject({ code: 'SLUICE_COUNTERS_UNAVAILABLE' })
    expect(await balance).toMatchObject({ left: 50 })
    await lab.of(quotas.close())
  })
})

describe('a take', () => {
  test('that is answered at the very end of its deadline is refunded', async () => {
    const lab = new Lab()
    let isSlow = true
    const { quotas, limiter } = lab.join(
      {
        before: (call) =>
          isSlow && call === 'commit' ? new Promise((done) => void lab.clock.after(50, done)) : undefined,
      },
      { deadlineMs: 50 },
    )
    const decision = await lab.of(limiter.take('a'))
    isSlow = false
    await lab.advance(6_000)
    expect(decision).toMatchObject({ allowed: true, counted: false })
    expect(await lab.of(quotas.balance('a', NAMES))).toMatchObject({ used: 1 })
    await lab.of(quotas.close())
  })
})

describe('a reservation', () => {
  test('that has ended is rejected under its id, even if its units would not fit now', async () => {
    const lab = new Lab()
    const { quotas } = lab.join()
    await lab.of(quotas.reserve('a', 40, { id: 'r', ...NAMES }))
    await lab.of(quotas.post('a', 'r', NAMES))
    await expect(lab.of(quotas.reserve('a', 40, { id: 'r', ...NAMES }))).rejects.toMatchObject({
      code: 'SLUICE_TOKEN_REUSED',
    })
    await lab.of(quotas.close())
  })
})

describe('close', () => {
  test('charges all pending units, for any number of keys', async () => {
    const lab = new Lab()
    let fails = true
    const { quotas, limiter } = lab.join({ before: () => (fails ? Promise.reject(new Error('away')) : undefined) })
    for (let key = 0; key < 700; key++) await lab.of(limiter.take(`key-${key}`))
    fails = false
    await lab.of(quotas.close())
    const { quotas: reader } = lab.join()
    for (const key of ['key-0', 'key-300', 'key-699']) {
      expect([key, await lab.of(reader.balance(key, NAMES))]).toMatchObject([key, { used: 1 }])
    }
    await lab.of(reader.close())
  })

  test('completes while the database is unavailable, and reports what is lost', async () => {
    const lab = new Lab()
    const events: unknown[] = []
    const observers = [{ event: (name: string, details: unknown) => void (name === 'quota' && events.push(details)) }]
    const { quotas, limiter } = lab.join({ before: () => NEVER }, { observers, deadlineMs: 50 })
    await lab.of(limiter.take('a', 3))
    const from = lab.clock.now()
    await lab.of(quotas.close())
    expect(lab.clock.now() - from).toBeLessThanOrEqual(2_500)
    expect(events).toEqual([{ lost: 3 }])
  })
})

describe('after close nothing is sent, and no timer is left,', () => {
  test.each<[string, keyof QuotaTable]>([
    ['a tick read the due accounts', 'due'],
    ['an account was read', 'read'],
    ['a change was written', 'commit'],
    ['a notice was delivered', 'delivered'],
    ['a process looked for notices', 'undelivered'],
  ])('even if %s and the answer arrives later', async (_, held) => {
    const lab = new Lab()
    const sent: string[] = []
    const answers: (() => void)[] = []
    let isSilent = false
    const { quotas, limiter } = lab.join(
      {
        before: (call) => void sent.push(call),
        after: (call) => (isSilent && call === held ? new Promise<void>((done) => void answers.push(done)) : undefined),
      },
      { limit: 1_000, onUsed: () => {}, waitMs: 60_000 },
    )
    await lab.of(limiter.take('a', 700))
    isSilent = true
    void limiter.take('a', 200)
    void limiter.take('b', 500)
    await lab.advance(12_000)
    await lab.of(quotas.close())
    const before = sent.length
    for (const answer of answers) answer()
    await lab.advance(12_000)
    for (const answer of answers) answer()
    await lab.advance(40_000)
    expect(sent.slice(before)).toEqual([])
    expect(answers.length).toBeGreaterThan(0)
    limiter.close()
    // the breaker of the limiter resets itself
    await lab.advance(60_000)
    expect(lab.clock.pending).toBe(0)
  })
})

describe('a lease', () => {
  const terms = { periods: new CalendarPeriods({ per: 'day', timeZone: 'UTC' }), carryOver: 0, thresholds: [80, 100] }
  const leaseTerms = { leaseMs: 10_000, fraction: 0.5 }
  const ask = { key: 'a', counter: undefined as never, base: 0, spent: 0, minimum: 1, need: 1 }

  test('of an expired period is not kept next to the leases of the next one', () => {
    const state = emptyState()
    const midnight = Date.UTC(2026, 10, 3)
    const before = new QuotaAccount(state, terms, midnight - 3_000).open(100)
    const asked = { ...ask, owner: 1, seq: 1, keep: 0, want: 50, demand: 50 }
    expect(requestLease(before, asked, leaseTerms)).toMatchObject({ granted: 50, leaseMs: 3_000 })
    const after = new QuotaAccount(state, terms, midnight + 10).open(100)
    expect(after.take(80)).toBe(true)
    // requested before midnight, and answered late
    const late = requestLease(after, { ...ask, owner: 1, seq: 2, keep: 50, want: 0, demand: 0 }, leaseTerms)
    expect(late).toMatchObject({ leaseMs: 0 })
    expect(after.pendingIn(after.current)).toBe(0)
    expect(after.free).toBe(20)
  })

  test('that was reported after all is not credited at the expense of another lease', async () => {
    const lab = new Lab()
    const other = lab.join({}, { limit: 1_000 })
    let isAway = false
    const away = lab.join({ before: () => (isAway ? Promise.reject(new Error('away')) : undefined) }, { limit: 1_000 })
    let isGone = false
    const gone = lab.join({ before: () => (isGone ? NEVER : undefined) }, { limit: 1_000 })
    for (const { limiter } of [away, gone]) await lab.of(limiter.take('a'))
    isAway = true
    isGone = true
    await lab.advance(20_000)
    const stranded = await lab.of(other.quotas.stranded(NAMES))
    expect(stranded.length).toBe(2)
    isAway = false
    await lab.advance(10_000)
    const [left] = await lab.of(other.quotas.stranded(NAMES))
    const reported = stranded.filter(({ ref }) => ref !== left.ref)
    expect(reported.length).toBe(1)
    for (const lease of reported) expect(await lab.of(other.quotas.credit(lease, NAMES))).toBe(0)
    expect(await lab.of(other.quotas.balance('a', NAMES))).toMatchObject({ used: 1, stranded: left.units })
    for (const { quotas } of [away, gone, other]) await lab.of(quotas.close())
  })
})

describe('pending units', () => {
  test('are charged to the period in which they were passed, even if its account was never opened', async () => {
    const lab = new Lab()
    let isAway = true
    const before = () => (isAway ? Promise.reject(new Error('away')) : undefined)
    const { quotas, limiter } = lab.join({ before }, { per: 'day', carryOver: 100 })
    await lab.of(limiter.take('a', 30))
    lab.clock.stepWall(86_400_000)
    await lab.of(limiter.take('a', 2))
    isAway = false
    await lab.advance(20_000)
    // 20 were left of the previous day
    expect(await lab.of(quotas.balance('a', NAMES))).toMatchObject({ period: '2026-11-03', used: 2, carried: 20 })
    const range = { from: Date.UTC(2026, 10, 1), to: Date.UTC(2026, 10, 9), by: 'day', ...NAMES } as const
    const days = await lab.of(quotas.usage('a', range))
    expect(days.map(({ from, used }) => [new Date(from).getUTCDate(), used])).toEqual([
      [2, 30],
      [3, 2],
    ])
    await lab.of(quotas.close())
  })
})

describe('expired top-ups', () => {
  test('are removed when there are many, and their spent units stay counted', () => {
    const terms = {
      periods: new CalendarPeriods({ per: 'month', timeZone: 'UTC' }),
      carryOver: 0,
      thresholds: [80, 100],
    }
    const state = emptyState()
    const from = Date.UTC(2026, 10, 2)
    for (let bought = 0; bought < 200; bought++) {
      const account = new QuotaAccount(state, terms, from + bought * 3_600_000).open(bought === 0 ? 5 : 0)
      account.topUps.add({ token: `t-${bought}`, units: 10, left: 10, endsAt: account.now + 1_800_000 }, account.now)
      expect(account.take(4)).toBe(true)
      const { included, carried, toppedUp, topUpLeft, used, left } = balanceOf(account)
      expect(included + carried + toppedUp + topUpLeft).toBe(used + left)
    }
    expect(state.topUps.length).toBeLessThanOrEqual(34)
    const later = new QuotaAccount(state, terms, from + 300 * 3_600_000).open(0)
    later.charge(later.current, -50, later.now)
    expect(balanceOf(later)).toMatchObject({ used: 750, toppedUp: later.current.toppedUp, topUpLeft: 0 })
  })
})

describe('a notice', () => {
  test('has the key as it was passed to the limiter', async () => {
    const lab = new Lab()
    const keys: string[] = []
    const { quotas, limiter } = lab.join({}, { limit: 1, onUsed: ({ key }) => void keys.push(key) })
    await lab.of(limiter.take('back\\slash\0'))
    await lab.advance(100)
    expect(new Set(keys)).toEqual(new Set(['back\\slash\0']))
    await lab.of(quotas.close())
  })
})

describe('a failover to a lagging server', () => {
  const range = { from: Date.UTC(2026, 10, 1), to: Date.UTC(2026, 11, 1), by: 'month', ...NAMES } as const

  test('loses no usage that a process has, in the balance and in the journal, however many processes have it', async () => {
    const lab = new Lab()
    const [one, other] = [lab.join(), lab.join()]
    for (const { limiter } of [one, other]) for (let i = 0; i < 3; i++) await lab.of(limiter.take('a'))
    lab.servers.cutOff()
    for (let i = 0; i < 4; i++) for (const { limiter } of [one, other]) await lab.of(limiter.take('a'))
    lab.servers.failOver()
    // both processes have more than the server and write at once, the one with more first: the rejected write is not
    // repeated on top
    const takes = [other, one].map(({ limiter }) => limiter.take('a'))
    expect((await lab.of(Promise.all(takes))).every(({ counted }) => counted)).toBe(true)
    expect(await lab.of(one.quotas.balance('a', NAMES))).toMatchObject({ used: 16, left: 34 })
    expect(await lab.of(one.quotas.usage('a', range))).toMatchObject([{ used: 16 }])
    for (const { quotas } of [one, other]) await lab.of(quotas.close())
  })

  test("adds up charges of processes that had not seen each other's last charges", async () => {
    const lab = new Lab()
    const [one, other] = [lab.join(), lab.join()]
    for (const { limiter } of [one, other]) for (let i = 0; i < 3; i++) await lab.of(limiter.take('a'))
    lab.servers.cutOff()
    for (let i = 0; i < 4; i++) await lab.of(other.limiter.take('a'))
    for (let i = 0; i < 5; i++) await lab.of(one.limiter.take('a'))
    lab.servers.failOver()
    for (let i = 0; i < 2; i++) await lab.of(other.limiter.take('a'))
    for (let i = 0; i < 3; i++) await lab.of(one.limiter.take('a'))
    expect(await lab.of(other.quotas.balance('a', NAMES))).toMatchObject({ used: 20, left: 30 })
    expect(await lab.of(one.quotas.usage('a', range))).toMatchObject([{ used: 20 }])
    for (const { quotas } of [one, other]) await lab.of(quotas.close())
  })

  test('does not overwrite what another process wrote there with the same version', async () => {
    const lab = new Lab()
    const [one, other] = [lab.join(), lab.join()]
    await lab.of(other.limiter.take('a'))
    await lab.of(one.limiter.take('a'))
    lab.servers.cutOff()
    for (let i = 0; i < 3; i++) await lab.of(one.limiter.take('a'))
    lab.servers.failOver()
    // from the same version, with the same number of changes
    for (let i = 0; i < 3; i++) await lab.of(other.limiter.take('a'))
    await lab.of(one.limiter.take('a'))
    expect(await lab.of(one.quotas.balance('a', NAMES))).toMatchObject({ used: 9, left: 41 })
    expect(await lab.of(one.quotas.usage('a', range))).toMatchObject([{ used: 9 }])
    for (const { quotas } of [one, other]) await lab.of(quotas.close())
  })

  test('restores charges of a dead process that another process had seen', async () => {
    const lab = new Lab()
    const [gone, other] = [lab.join(), lab.join()]
    await lab.of(other.limiter.take('a'))
    lab.servers.cutOff()
    for (let i = 0; i < 3; i++) await lab.of(gone.limiter.take('a'))
    expect(await lab.of(other.quotas.balance('a', NAMES))).toMatchObject({ used: 4 })
    lab.servers.failOver()
    expect(await lab.of(other.quotas.balance('a', NAMES))).toMatchObject({ used: 4 })
    for (const { quotas } of [gone, other]) await lab.of(quotas.close())
  })

  test('keeps later reservations, and frees reservations that were already posted', async () => {
    const lab = new Lab()
    const [one, other] = [lab.join(), lab.join()]
    await lab.of(one.quotas.reserve('a', 5, { id: 'posted', ttlMs: '1h', ...NAMES }))
    lab.clock.advance(1_000)
    lab.servers.cutOff()
    await lab.of(one.quotas.post('a', 'posted', NAMES))
    lab.servers.failOver()
    await lab.of(other.quotas.reserve('a', 7, { id: 'since', ttlMs: '1h', ...NAMES }))
    expect(await lab.of(one.quotas.balance('a', NAMES))).toMatchObject({ used: 5, reserved: 7 })
    expect(await lab.of(one.quotas.post('a', 'since', NAMES))).toBe('posted')
    expect(await lab.of(other.quotas.balance('a', NAMES))).toMatchObject({ used: 12, reserved: 0 })
    for (const { quotas } of [one, other]) await lab.of(quotas.close())
  })

  test('refunds once if a lost refund is retried with its token', async () => {
    const lab = new Lab()
    const [one, other] = [lab.join(), lab.join()]
    for (let i = 0; i < 10; i++) await lab.of(one.limiter.take('a'))
    lab.servers.cutOff()
    expect(await lab.of(one.quotas.refund('a', 4, { token: 'ticket', ...NAMES }))).toBe(true)
    await lab.of(one.limiter.take('a'))
    lab.servers.failOver()
    expect(await lab.of(other.quotas.refund('a', 4, { token: 'ticket', ...NAMES }))).toBe(true)
    expect(await lab.of(one.quotas.refund('a', 4, { token: 'ticket', ...NAMES }))).toBe(false)
    expect(await lab.of(one.quotas.balance('a', NAMES))).toMatchObject({ used: 7 })
    for (const { quotas } of [one, other]) await lab.of(quotas.close())
  })

  test('charges lost usage to the top-up that was lost with it', async () => {
    const lab = new Lab()
    const { quotas, limiter } = lab.join()
    await lab.of(limiter.take('a', 45))
    lab.servers.cutOff()
    await lab.of(quotas.topUp('a', 20, { token: 'invoice-1', ...NAMES }))
    await lab.of(limiter.take('a', 15))
    lab.servers.failOver()
    // before any process has read the state of the server
    expect(await lab.of(quotas.topUp('a', 20, { token: 'invoice-1', ...NAMES }))).toBe(false)
    expect(await lab.of(quotas.balance('a', NAMES))).toMatchObject({ used: 60, toppedUp: 10, topUpLeft: 10, left: 10 })
    await lab.of(quotas.close())
  })

  test('counts a missing top-up and a missing reservation once when they are retried with their tokens', async () => {
    const lab = new Lab()
    const { quotas } = lab.join()
    await lab.of(quotas.balance('a', NAMES))
    lab.servers.cutOff()
    await lab.of(quotas.topUp('a', 5, { token: 'invoice-1', ...NAMES }))
    await lab.of(quotas.reserve('a', 7, { id: 'r', ttlMs: '1h', ...NAMES }))
    lab.servers.failOver()
    expect(await lab.of(quotas.balance('a', NAMES))).toMatchObject({ topUpLeft: 5, reserved: 7 })
    expect(await lab.of(quotas.topUp('a', 5, { token: 'invoice-1', ...NAMES }))).toBe(false)
    expect(await lab.of(quotas.post('a', 'r', NAMES))).toBe('posted')
    expect(await lab.of(quotas.balance('a', NAMES))).toMatchObject({ topUpLeft: 5, reserved: 0, used: 7 })
    await expect(lab.of(quotas.reserve('a', 7, { id: 'r', ...NAMES }))).rejects.toMatchObject({
      code: 'SLUICE_TOKEN_REUSED',
    })
    await lab.of(quotas.close())
  })
})
