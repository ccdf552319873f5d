import { expect, test } from '@jest/globals'
import { MemorySyncLedger, SyncingBackend, type SyncLedger, syncTermsOf } from '@sluice/fleet/sync'
import { createLimiter } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { afterThisTurn } from '../../../packages/limiter-core/src/time/clock.ts'

const turn = (): Promise<void> => new Promise((resolve) => afterThisTurn(resolve))

test('a backend that is closed while it waits for its turn to send does not send', async () => {
  const clock = new FakeClock()
  const joined = new MemorySyncLedger(clock).join()
  let sent = 0
  let dropped = 0
  const exchange: SyncLedger['exchange'] = (batch, deadlineAt) => {
    sent += batch.takes.length
    return joined.exchange(batch, deadlineAt)
  }
  const terms = syncTermsOf('test', { floor: 0, closeMs: 10 })
  const deps = { name: 'synced', ledger: { ...joined, exchange }, terms, clock } as const
  const backend = new SyncingBackend({ ...deps, rule: { source: 'local' } })
  backend.observe({
    event: (event, data) => {
      if (event === 'sync' && 'dropped' in data) dropped += Number(data.dropped)
    },
  })
  const policies = [{ name: 'api', limit: 100, window: '1h', backend }] as const
  const limiter = createLimiter({ policies, clock })
  for (let key = 0; key < 5_000; key++) limiter.take(`key ${key}`)
  const closed = backend.close()
  await Promise.resolve()
  clock.advance(10)
  await closed
  const before = sent
  expect(before).toBeLessThan(5_000)
  for (let turns = 0; turns < 50; turns++) await turn()
  expect(sent).toBe(before)
  expect(dropped).toBeGreaterThanOrEqual(5_000 - before)
})
