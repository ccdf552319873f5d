import { expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { createLimiter } from '@sluice/limiter-core'
import { afterThisTurn, countName } from '@sluice/limiter-core/backend'
import { createQuotas, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'

const NAME = countName('default', { name: 'quota' }, 'calendar-day@1')

test('a notice that is never answered stops neither other notices nor the end of reservations', async () => {
  const clock = new FakeClock({ wallMs: Date.UTC(2026, 10, 3) })
  const ledger = new MemoryLedger(clock)
  const serverTime = (): number => clock.wall()
  const received: string[] = []
  const onUsed = ({ key }: { readonly key: string }): Promise<void> => {
    received.push(key)
    // rejected the first time
    return key === 'b' && received.filter((one) => one === 'b').length === 1
      ? Promise.reject(new Error('try again'))
      : new Promise<void>(() => {})
  }
  const quotas = createQuotas(ledger, { clock, serverTime, onUsed })
  const policies = [quota({ limit: 10, per: 'day', backend: quotas })]
  const limiter = createLimiter({ policies, clock, deadlineMs: 60_000 })
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      clock.advance(1_000)
      for (let turns = 0; turns < 10; turns++) await new Promise<void>((resolve) => afterThisTurn(resolve))
    }
  }
  // a process without a hook leaves the notice to this one
  const other = createQuotas(ledger, { clock, serverTime })
  const others = createLimiter({ policies: [quota({ limit: 10, per: 'day', backend: other })], clock })
  await others.take('a', 8)
  await pass(70)
  expect(received).toEqual(['a'])
  await limiter.take('b', 8)
  await quotas.reserve('c', 5, { ttlMs: '10s' })
  await pass(200)
  expect(received).toEqual(['a', 'b', 'b'])
  const ended = await ledger.openQuotas(serverTime).entries({ name: NAME, key: 'c', after: 0, limit: 10 })
  expect(ended.map(({ kind }) => kind)).toEqual(['reserved', 'expired'])
  limiter.close()
  others.close()
  const closed = Promise.all([quotas.close(), other.close()])
  await pass(5)
  await closed
})
