import { type CounterLedger, type CounterTable, MemoryLedger } from '@sluice/counters'
import type { Clock } from '@sluice/limiter-core'

export type TableCall = 'apply' | 'read' | 'list' | 'sum' | 'clear'

/** Hooks around each call of a table: `before` and `after` it takes effect. Either may delay or reject the call. */
export interface Intrusion {
  readonly before?: (call: TableCall) => Promise<void> | void
  readonly after?: (call: TableCall) => Promise<void> | void
}

/** An in-memory ledger whose calls can be delayed or rejected by hooks. */
export class HeldLedger implements CounterLedger {
  readonly durable = false
  readonly plain: MemoryLedger
  readonly #intrusion: Intrusion

  constructor(clock: Clock, intrusion: Intrusion) {
    this.plain = new MemoryLedger(clock)
    this.#intrusion = intrusion
  }

  open(name: string): CounterTable {
    const table = this.plain.open(name)
    return {
      apply: (batch) => this.#held('apply', () => table.apply(batch)),
      read: (ids, writer) => this.#held('read', () => table.read(ids, writer)),
      list: (prefix, page) => this.#held('list', () => table.list(prefix, page)),
      sum: (prefix) => this.#held('sum', () => table.sum(prefix)),
      clear: (id, options) => this.#held('clear', () => table.clear(id, options)),
    }
  }

  async close(): Promise<void> {}

  async #held<T>(call: TableCall, run: () => Promise<T>): Promise<T> {
    await this.#intrusion.before?.(call)
    const answer = await run()
    await this.#intrusion.after?.(call)
    return answer
  }
}
