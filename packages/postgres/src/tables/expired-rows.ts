import type { Clock } from '@sluice/limiter-core/backend'
import type { SqlCalls } from '../server/sql-calls.ts'
import type { LimitTables } from './limit-tables.ts'

/** Most rows that one statement deletes. */
const MOST_ROWS = 1_000
/** Time between two automatic deletions of this process. */
const EVERY_MS = 10_000
/** Time until the next deletion if there were more rows than one statement deletes. */
const AGAIN_MS = 200

/** Deletes expired rows in small amounts, so that no statement takes long. */
export class ExpiredRows {
  readonly #calls: SqlCalls
  readonly #statement: string
  readonly #clock: Clock
  #nextAt: number
  #isRunning = false

  constructor(calls: SqlCalls, tables: LimitTables, clock: Clock) {
    this.#calls = calls
    this.#statement = tables.pruneStatement(MOST_ROWS)
    this.#clock = clock
    this.#nextAt = clock.now() + EVERY_MS
  }

  /** Deletes all expired rows. Rejects with a `PostgresFailure`. */
  async prune(): Promise<void> {
    while (await this.#pruneOnce());
  }

  /** Deletes some expired rows, if the last deletion was long enough ago. */
  pruneSometimes(): void {
    const now = this.#clock.now()
    if (now < this.#nextAt || this.#isRunning) return
    this.#isRunning = true
    const next = (isMore: boolean): void => {
      this.#isRunning = false
      this.#nextAt = this.#clock.now() + (isMore ? AGAIN_MS : EVERY_MS)
    }
    // a failure is not reported: a decision meets the same one
    this.#pruneOnce().then(next, () => next(false))
  }

  /** Returns whether there may be more expired rows. */
  async #pruneOnce(): Promise<boolean> {
    const row = (await this.#calls.run(this.#statement, [])) as { readonly deleted: number }
    return Number(row.deleted) === MOST_ROWS
  }
}
