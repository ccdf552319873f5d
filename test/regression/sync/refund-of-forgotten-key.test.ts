import { expect, test } from '@jest/globals'
import { MemorySyncLedger } from '@sluice/fleet/sync'
import { memoryBackend } from '@sluice/limiter-core'
import { FakeClock, openedCounter } from '@sluice/testkit'
import { PendingUsage } from '../../../packages/fleet/src/sync/pending-usage.ts'
import { SyncPartition } from '../../../packages/fleet/src/sync/sync-partition.ts'

test('a refund is applied if the process evicted the key in between, and reports it twice in one batch', async () => {
  const clock = new FakeClock({ nowMs: 5_000 })
  const policy = { name: 'api', algorithm: 'fixed-window', limit: 100, windowMs: 3_600_000 } as const
  const counter = openedCounter(memoryBackend({ clock }), 'test', policy)
  const usageOf = (units: number): PendingUsage => {
    const usage = new PendingUsage(counter, 'k', 7)
    usage.add(units, 4_000, 1_000)
    return usage
  }
  const ledger = new MemorySyncLedger(clock)
  const batch = new SyncPartition(7).begin([usageOf(-2), usageOf(5)])
  await ledger.join().exchange(batch, 6_000)
  expect(ledger.used({ key: 'k', counter })).toBe(3)
})
