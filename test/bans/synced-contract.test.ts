import { describe, test } from '@jest/globals'
import { MemorySyncLedger, SyncingBackend, syncTermsOf } from '@sluice/fleet/sync'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import { banContract, FakeClock } from '@sluice/testkit'

const STEP_MS = 50

describe('backends of several processes with a common ledger', () =>
  banContract({ describe, test }, (processes) => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const ledger = new MemorySyncLedger(clock)
    const terms = syncTermsOf('synced', { tickMs: 200, burst: 1 })
    const backends = Array.from(
      { length: processes },
      () => new SyncingBackend({ name: 'synced', ledger: ledger.join(), terms, rule: { source: 'local' }, clock }),
    )
    return {
      clock,
      backends,
      isEventual: true,
      asksLater: true,
      exchange: async () => {
        for (let step = 0; step < 10; step++) {
          clock.advance(STEP_MS)
          await new Promise<void>((resolve) => afterThisTurn(resolve))
        }
      },
      close: () => {
        for (const backend of backends) void backend.close()
      },
    }
  }))
