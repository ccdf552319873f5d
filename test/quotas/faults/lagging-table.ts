import type { MemoryQuotaTable } from '../../../packages/counters/src/ledger/memory-quota-table.ts'
import type { QuotaTable } from '../../../packages/counters/src/ledger/quota-table.ts'

/** A table with a copy that follows until `cutOff`, and that replaces the table after `failOver`. */
export class BehindTable {
  readonly #first: MemoryQuotaTable
  readonly #copy: MemoryQuotaTable
  #isFollowed = true
  #active: QuotaTable

  constructor(first: MemoryQuotaTable, copy: MemoryQuotaTable) {
    this.#first = first
    this.#copy = copy
    this.#active = first
  }

  /** Stops the copy. `failOver` loses all writes from here on. */
  cutOff(): void {
    this.#isFollowed = false
  }

  failOver(): void {
    this.#active = this.#copy
  }

  get table(): QuotaTable {
    const follow = async (...asked: Parameters<QuotaTable['commit']>): ReturnType<QuotaTable['commit']> => {
      if (this.#active === this.#first && this.#isFollowed) await this.#copy.commit(...asked)
      return this.#active.commit(...asked)
    }
    return new Proxy(this.#first as QuotaTable, {
      get: (_, name: keyof QuotaTable) =>
        name === 'commit'
          ? follow
          : (...asked: never[]) => (this.#active[name] as (...all: never[]) => unknown)(...asked),
    })
  }
}
