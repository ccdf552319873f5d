import type { CounterLedger } from '@sluice/counters'
import type { QuotaTable } from '../../../packages/counters/src/ledger/quota-table.ts'

/** Hooks around each call of a table: `before` and `after` it takes effect. Either may delay or reject the call. */
export interface QuotaIntrusion {
  readonly before?: (call: keyof QuotaTable) => Promise<void> | void
  readonly after?: (call: keyof QuotaTable) => Promise<void> | void
}

/** A quota table whose calls can be delayed or rejected by hooks. */
export class FaultyQuotaTable implements QuotaTable {
  readonly #table: QuotaTable
  readonly #intrusion: QuotaIntrusion

  constructor(table: QuotaTable, intrusion: QuotaIntrusion) {
    this.#table = table
    this.#intrusion = intrusion
  }

  readonly read: QuotaTable['read'] = (...asked) => this.#call('read', () => this.#table.read(...asked))
  readonly commit: QuotaTable['commit'] = (...asked) => this.#call('commit', () => this.#table.commit(...asked))
  readonly usedToken: QuotaTable['usedToken'] = (...asked) =>
    this.#call('usedToken', () => this.#table.usedToken(...asked))
  readonly due: QuotaTable['due'] = (...asked) => this.#call('due', () => this.#table.due(...asked))
  readonly usage: QuotaTable['usage'] = (...asked) => this.#call('usage', () => this.#table.usage(...asked))
  readonly entries: QuotaTable['entries'] = (...asked) => this.#call('entries', () => this.#table.entries(...asked))
  readonly stranded: QuotaTable['stranded'] = (...asked) => this.#call('stranded', () => this.#table.stranded(...asked))
  readonly undelivered: QuotaTable['undelivered'] = (...asked) =>
    this.#call('undelivered', () => this.#table.undelivered(...asked))
  readonly delivered: QuotaTable['delivered'] = (...asked) =>
    this.#call('delivered', () => this.#table.delivered(...asked))

  async #call<T>(name: keyof QuotaTable, run: () => Promise<T>): Promise<T> {
    await this.#intrusion.before?.(name)
    const answer = await run()
    await this.#intrusion.after?.(name)
    return answer
  }
}

/** Creates a ledger that contains only this quota table. */
export function quotasOnly(table: QuotaTable): CounterLedger {
  const none = (): never => {
    throw new Error('a ledger of quotas alone')
  }
  return { durable: false, open: none, openSketches: none, openQuotas: () => table, close: async () => {} }
}
