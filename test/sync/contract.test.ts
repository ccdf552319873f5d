import { describe, test } from '@jest/globals'
import { MemorySyncLedger, SyncingBackend, syncTermsOf } from '@sluice/limiter-core/sync'
import { backendContract } from '@sluice/testkit'

describe('a synced backend alone on its ledger', () => {
  backendContract(
    { describe, test },
    (clock) => {
      const ledger = new MemorySyncLedger(clock).join()
      const terms = syncTermsOf('test', { burst: 1, nodes: 1 })
      return new SyncingBackend({ name: 'synced', ledger, terms, rule: { source: 'local', share: 1 }, clock })
    },
    { algorithms: ['fixed-window', 'sliding-window', 'token-bucket', 'gcra'] },
  )
})
