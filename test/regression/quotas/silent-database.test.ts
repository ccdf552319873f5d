import { Readable } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import { createQuotas, type Quotas, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'
import { MemoryQuotaTable } from '../../../packages/counters/src/ledger/memory-quota-table.ts'
import type { QuotaTable } from '../../../packages/counters/src/ledger/quota-table.ts'
import { FaultyQuotaTable, quotasOnly } from '../../quotas/faults/faulty-quota-table.ts'

const WAIT_MS = 100
const UNAVAILABLE = { code: 'SLUICE_COUNTERS_UNAVAILABLE' }
const NOON = Date.UTC(2026, 10, 2, 12)
const RANGE = { from: NOON - 1_000, to: NOON + 1_000 }

/** A database with a quota of one unit, which stops replying to the calls in `silent`. */
class SilentSite {
  readonly clock = new FakeClock({ wallMs: NOON })
  readonly silent = new Set<keyof QuotaTable>()
  readonly calls: (keyof QuotaTable)[] = []
  readonly quotas: Quotas

  constructor() {
    const { clock } = this
    const before = (call: keyof QuotaTable): Promise<void> | undefined => {
      this.calls.push(call)
      return this.silent.has(call) ? new Promise(() => {}) : undefined
    }
    const table = new FaultyQuotaTable(new MemoryQuotaTable(() => clock.wall()), { before })
    this.quotas = createQuotas(quotasOnly(table), { clock, waitMs: WAIT_MS, onUsed: () => {} })
    createLimiter({ policies: [quota({ limit: 1, per: 'day', backend: this.quotas })], clock })
  }

  /** Advances the clock in steps until a promise has settled, at most for `ms`. */
  async within<T>(asked: Promise<T>, ms: number): Promise<T> {
    let isSettled = false
    const settled = (): void => {
      isSettled = true
    }
    asked.then(settled, settled)
    for (let passed = 0; passed <= ms && !isSettled; passed += 10) {
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => afterThisTurn(() => resolve(undefined)))
      this.clock.advance(10)
    }
    expect(isSettled).toBe(true)
    return asked
  }
}

/** Calls of quotas that need a single call of the table. */
const CALLS: Readonly<Record<string, readonly [keyof QuotaTable, (quotas: Quotas) => Promise<unknown>]>> = {
  usage: ['usage', (quotas) => quotas.usage('a', RANGE)],
  csv: ['usage', async (quotas) => void (await Readable.from(quotas.csv(RANGE)).toArray())],
  stranded: ['stranded', (quotas) => quotas.stranded()],
  reserve: ['usedToken', (quotas) => quotas.reserve('a', 2)],
  post: ['usedToken', (quotas) => quotas.post('a', 'unknown')],
  balance: ['read', (quotas) => quotas.balance('a')],
}

describe.each(Object.entries(CALLS))('%s', (_, [call, ask]) => {
  test('rejects after waitMs if the database never replies', async () => {
    const site = new SilentSite()
    site.silent.add(call)
    await expect(site.within(ask(site.quotas), WAIT_MS + 50)).rejects.toMatchObject(UNAVAILABLE)
    site.silent.clear()
    await site.within(site.quotas.close(), 2_000)
    expect(site.clock.pending).toBe(0)
  })

  test('rejects after close and calls nothing', async () => {
    const site = new SilentSite()
    await site.within(site.quotas.close(), 2_000)
    site.calls.length = 0
    await expect(site.within(ask(site.quotas), 10)).rejects.toMatchObject(UNAVAILABLE)
    expect(site.calls).toEqual([])
  })

  test('rejects if the quotas are closed meanwhile', async () => {
    const site = new SilentSite()
    site.silent.add(call)
    const asked = ask(site.quotas)
    const settled = asked.catch((error: unknown) => error)
    await site.within(site.quotas.close(), 2_000)
    expect(await settled).toMatchObject(UNAVAILABLE)
    expect(site.clock.pending).toBe(0)
  })
})

test.each(['read', 'due', 'undelivered', 'delivered'] as const)(
  'quotas continue after %s received no reply, and close within two seconds',
  async (call) => {
    const site = new SilentSite()
    site.silent.add(call)
    const { quotas, clock, calls } = site
    await site.within(new Promise<void>((resolve) => void clock.after(6_000, resolve)), 7_000)
    site.silent.clear()
    calls.length = 0
    await site.within(new Promise<void>((resolve) => void clock.after(6_000, resolve)), 7_000)
    expect(calls).toContain('due')
    site.silent.add(call)
    await site.within(quotas.close(), 2_500)
    expect(clock.pending).toBe(0)
  },
)
