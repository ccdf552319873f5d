import { expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import type { QuotaTable } from '@sluice/counters/backend'
import { createLimiter } from '@sluice/limiter-core'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import { createQuotas, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'

test('quotas are idle only when their delivered notices are stored', async () => {
  const clock = new FakeClock({ wallMs: Date.UTC(2026, 10, 3) })
  const ledger = new MemoryLedger(clock)
  const table = ledger.openQuotas(() => clock.wall())
  let store = (): void => {}
  const delivered: QuotaTable['delivered'] = async (ids) => {
    await new Promise<void>((resolve) => {
      store = resolve
    })
    return table.delivered(ids)
  }
  const slow = new Proxy(table, {
    get: (target, name: keyof QuotaTable) => {
      const member = name === 'delivered' ? delivered : target[name]
      return typeof member === 'function' ? member.bind(target as never) : member
    },
  })
  const received: number[] = []
  const quotas = createQuotas(Object.assign(ledger, { openQuotas: () => slow }), {
    clock,
    onUsed: ({ threshold }) => void received.push(threshold),
  })
  const limiter = createLimiter({ policies: [quota({ limit: 10, per: 'day', backend: quotas })], clock })
  await limiter.take('a', 8)
  await new Promise<void>((resolve) => afterThisTurn(resolve))
  let isIdle = false
  const idle = quotas.idle().then(() => {
    isIdle = true
  })
  await new Promise<void>((resolve) => afterThisTurn(resolve))
  expect([received, isIdle]).toEqual([[80], false])
  store()
  await idle
  limiter.close()
  await quotas.close()
})
