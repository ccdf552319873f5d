import { AWAITED, type Clock } from '@sluice/limiter-core/backend'
import { failureOf, unanswered } from '../unanswered.ts'
import type { AppliedBatch, CounterBatch, CounterTable, LedgerEntry, LedgerRead } from './counter-ledger.ts'

/** A table of which each call is answered within `waitMs`, or rejects with `SLUICE_COUNTERS_UNANSWERED`, as a failed one does. */
export class TimedTable implements CounterTable {
  readonly #table: CounterTable
  readonly #clock: Clock
  readonly #waitMs: number

  constructor(table: CounterTable, clock: Clock, waitMs: number) {
    this.#table = table
    this.#clock = clock
    this.#waitMs = waitMs
  }

  apply(batch: CounterBatch): Promise<AppliedBatch> {
    return this.#within(this.#table.apply(batch))
  }

  read(ids: readonly string[], writer?: string): Promise<LedgerRead> {
    return this.#within(this.#table.read(ids, writer))
  }

  list(prefix: string, page: Parameters<CounterTable['list']>[1]): Promise<readonly LedgerEntry[]> {
    return this.#within(this.#table.list(prefix, page))
  }

  sum(prefix: string): Promise<number> {
    return this.#within(this.#table.sum(prefix))
  }

  clear(id: string, options: Parameters<CounterTable['clear']>[1]): Promise<LedgerEntry> {
    return this.#within(this.#table.clear(id, options))
  }

  #within<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const late = (): void => reject(unanswered(`the ledger of counters gave no answer within ${this.#waitMs} ms`))
      const cancel = this.#clock.after(this.#waitMs, late, AWAITED)
      answer.then(resolve, (error: unknown) => reject(failureOf('the ledger of counters', error))).finally(cancel)
    })
  }
}
