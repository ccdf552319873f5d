import { CallTimeout, type QuotaTable, unavailableError } from '@sluice/counters/backend'
import type { Clock } from '@sluice/limiter-core/backend'

/** Quota table whose calls time out after `waitMs`. After `close`, all calls reject and nothing is sent. */
export class TimedQuotaTable implements QuotaTable {
  readonly #table: QuotaTable
  readonly #timeout: CallTimeout
  #isClosed = false

  constructor(table: QuotaTable, clock: Clock, waitMs: number) {
    this.#table = table
    this.#timeout = new CallTimeout(clock, waitMs)
  }

  get opening(): string | undefined {
    return this.#table.opening
  }

  readonly read: QuotaTable['read'] = (ids) => this.#call(() => this.#table.read(ids))
  readonly commit: QuotaTable['commit'] = (...asked) => this.#call(() => this.#table.commit(...asked))
  readonly usedToken: QuotaTable['usedToken'] = (id, token) => this.#call(() => this.#table.usedToken(id, token))
  readonly due: QuotaTable['due'] = (names, limit) => this.#call(() => this.#table.due(names, limit))
  readonly usage: QuotaTable['usage'] = (query) => this.#call(() => this.#table.usage(query))
  readonly entries: QuotaTable['entries'] = (query) => this.#call(() => this.#table.entries(query))
  readonly stranded: QuotaTable['stranded'] = (query) => this.#call(() => this.#table.stranded(query))
  readonly undelivered: QuotaTable['undelivered'] = (names, ageMs, limit) =>
    this.#call(() => this.#table.undelivered(names, ageMs, limit))
  readonly delivered: QuotaTable['delivered'] = (ids) => this.#call(() => this.#table.delivered(ids))

  /** Rejects the calls under way. Nothing is sent afterwards. */
  close(): void {
    this.#isClosed = true
    this.#timeout.end(closedError())
  }

  async #call<T>(call: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw closedError()
    return this.#timeout.within(call())
  }
}

/** Returns the error of calls after the quotas were closed. */
export function closedError(): Error {
  return unavailableError('the quotas are closed')
}
