import { describe, test } from '@jest/globals'
import { HashRing, RingBackend } from '@sluice/fleet/backend'
import { MemorySyncLedger, SyncingBackend, syncTermsOf } from '@sluice/fleet/sync'
import type { Clock } from '@sluice/limiter-core'
import { backendContract } from '@sluice/testkit'

const kept = { algorithms: ['fixed-window', 'sliding-window', 'token-bucket', 'gcra'] } as const

function alone(clock: Clock): SyncingBackend {
  const ledger = new MemorySyncLedger(clock).join()
  const terms = syncTermsOf('test', { burst: 1, nodes: 1 })
  return new SyncingBackend({ name: 'synced', ledger, terms, rule: { source: 'local' }, clock })
}

describe('a single synced backend on its ledger', () => {
  backendContract({ describe, test }, alone, kept)
})

describe('several synced backends, chosen by key', () => {
  const names = ['one', 'two', 'three']
  const ringOf = (clock: Clock) => {
    return new RingBackend(new HashRing(names), new Map(names.map((name) => [name, alone(clock)])))
  }
  backendContract({ describe, test }, ringOf, kept)
})
