import type { Clock } from '@sluice/limiter-core'
import { type RowStore, storeBackend } from '@sluice/stores'
import { backendContract, FakeClock, rowStoreContract, type TestRunner } from '@sluice/testkit'

/** Opens a store in the same file as all others, each in a connection of its own. */
export type OpenStore = (clock?: Partial<Clock>, table?: string) => RowStore

let tables = 0

/** Runs or collects the contracts of stores and of backends on SQLite. */
export function sqliteContracts(runner: TestRunner, open: OpenStore): void {
  const clock = new FakeClock()
  rowStoreContract(runner, () => open(clock), { passTime: (ms) => clock.advance(ms) })
  backendContract(
    runner,
    (time) => storeBackend(open(undefined, `backend_${tables++}`), { clock: time, serverTime: () => time.now() }),
    { histories: 3 },
  )
}
