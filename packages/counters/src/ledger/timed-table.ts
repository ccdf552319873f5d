import type { Clock } from '@sluice/limiter-core/backend'
import { CallTimeout } from './call-timeout.ts'
import type { AppliedBatch, CounterBatch, CounterTable, LedgerEntry, LedgerRead } from './counter-ledger.ts'

/** Counter table whose calls time out after `waitMs`. */
export class TimedTable implements CounterTable {
  readonly #table: CounterTable
  readonly #deadline: CallTimeout

  constructor(table: CounterTable, clock: Clock, waitMs: number) {
    this.#table = table
    this.#deadline = new CallTimeout(clock, waitMs)
  }

  apply(batch: CounterBatch): Promise<AppliedBatch> {
    return this.#deadline.within(this.#table.apply(batch))
  }

  read(ids: readonly string[], writer?: string): Promise<LedgerRead> {
    return this.#deadline.within(this.#table.read(ids, writer))
  }

  list(prefix: string, page: Parameters<CounterTable['list']>[1]): Promise<readonly LedgerEntry[]> {
    return this.#deadline.within(this.#table.list(prefix, page))
  }

  sum(prefix: string): Promise<number> {
    return this.#deadline.within(this.#table.sum(prefix))
  }

  clear(id: string, options: Parameters<CounterTable['clear']>[1]): Promise<LedgerEntry> {
    return this.#deadline.within(this.#table.clear(id, options))
  }
}
