import { expect, test } from '@jest/globals'
import { MemorySyncLedger, SyncingBackend, syncTermsOf } from '@sluice/fleet/sync'
import { compilePolicy, PolicyVariants } from '@sluice/limiter-core/backend'
import { FakeClock } from '@sluice/testkit'

// a file of policies may change the slices of a window, and both windows have four cells
test('a ledger in memory does not read the cells of a window with other slices', async () => {
  const clock = new FakeClock({ nowMs: 1_000_000 })
  const ledger = new MemorySyncLedger(clock)
  const terms = syncTermsOf('synced', { burst: 1, nodes: 1 })
  const backend = new SyncingBackend({ name: 'synced', ledger: ledger.join(), terms, rule: { source: 'local' }, clock })
  const counterOf = (slices: number) => {
    const policy = compilePolicy({ name: 'api', limit: 10, window: '60s', algorithm: 'sliding-window', slices })
    return backend.open(new PolicyVariants([policy]).compile(policy), 'api')
  }
  const before = counterOf(2)
  before.take('key', 5)
  for (let exchange = 0; exchange < 20; exchange++) {
    clock.advance(200)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const after = counterOf(1)
  after.take('key', 1)
  for (let exchange = 0; exchange < 20; exchange++) {
    clock.advance(200)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(after.take('key', 0)).toMatchObject({ remaining: 9, resetAfterMs: 56_000 })
  await backend.close()
})
