import { describe, test } from '@jest/globals'
import { storeBackend } from '@sluice/stores'
import { backendContract, rowStoreContract } from '@sluice/testkit'
import { MemoryRowStore, MemoryRows } from './memory-row-store.ts'

describe('rows in memory', () => {
  const rows = new MemoryRows()
  rowStoreContract({ describe, test }, () => new MemoryRowStore(rows), {
    passTime: (ms) => {
      rows.nowMs += ms
    },
  })
})

describe('storeBackend on rows in memory', () => {
  backendContract({ describe, test }, (clock) =>
    storeBackend(new MemoryRowStore(), { clock, serverTime: () => clock.now() }),
  )
})
