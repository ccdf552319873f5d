import { describe, test } from '@jest/globals'
import { storeBackend } from '@sluice/stores'
import { banContract, FakeClock } from '@sluice/testkit'
import { MemoryRowStore, MemoryRows } from '../stores/memory-row-store.ts'

describe('storeBackend of several processes', () =>
  banContract({ describe, test }, (processes) => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const rows = new MemoryRows()
    const backends = Array.from({ length: processes }, () =>
      storeBackend(new MemoryRowStore(rows), { clock, serverTime: () => clock.now() }),
    )
    return { clock, backends }
  }))
