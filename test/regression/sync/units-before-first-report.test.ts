import { expect, test } from '@jest/globals'
import { MemorySyncLedger, type SyncBatch, type SyncLedger } from '@sluice/fleet/sync'
import { type Counter, memoryBackend } from '@sluice/limiter-core'
import { FakeClock, openedCounter } from '@sluice/testkit'

const policy = { name: 'team', algorithm: 'fixed-window', limit: 10, windowMs: 60_000 } as const

/**
 * The shortest trace of `test/models/sync/sync.ts` after which a restarted ledger counts fewer units than were admitted: it
 * cannot distinguish units that it counted before the first report from units that the report contains.
 */
test('after an empty restart, a ledger counts at least the larger of the reported usage and of what it counted before', async () => {
  const clock = new FakeClock({ nowMs: 1_000 })
  const ledger = new MemorySyncLedger(clock)
  const counter: Counter = openedCounter(memoryBackend({ clock }), 'default', policy)
  const send = async (to: SyncLedger, units: number, batch: Partial<SyncBatch>, used?: number): Promise<number> => {
    clock.advance(10)
    const known = used === undefined ? undefined : { used, resetAfterMs: 50_000, ageMs: 30 }
    const takes = [{ key: 'a', counter, takes: units > 0 ? [clock.now(), units] : [], known }]
    await to.exchange({ partition: 0, number: 1, ...batch, takes }, clock.now())
    return ledger.used({ key: 'a', counter })
  }
  const [one, other] = [ledger.join(), ledger.join()]
  expect(await send(one, 3, {})).toBe(3)
  ledger.loseData()
  expect(await send(other, 2, {})).toBe(2)
  // the ledger refuses the batch, because earlier ones are missing
  expect(await send(one, 1, { number: 2 })).toBe(2)
  // 3 and not 5 units, and one more that the first process has taken since
  expect(await send(one, 1, { number: 3, afterLoss: true }, 3)).toBe(4)
})
