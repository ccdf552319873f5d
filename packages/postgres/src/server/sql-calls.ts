import { type Clock, Deadlines, KEEP_ALIVE, type SqlRunner } from '@sluice/limiter-core/backend'
import { failureOf, PostgresFailure, unansweredFailure } from './postgres-failure.ts'

/** Time after which `pg` closes a connection that does not reply, so that the pool opens another one. */
const QUERY_MS = 2_000
/** Time after which a statement is given up, including the wait for a connection. */
const CALL_MS = 4_000

/** A `Pool` or a `Client` of `pg`, whose statements may have options. */
interface PgClient {
  query(statement: {
    readonly text: string
    readonly values: unknown[]
    readonly query_timeout: number
  }): Promise<{ readonly rows: readonly unknown[] }>
}

/** Sends statements that always end: with rows, or with a `PostgresFailure`. */
export class SqlCalls {
  readonly #sql: SqlRunner
  readonly #deadlines: Deadlines

  constructor(sql: SqlRunner, clock: Clock) {
    this.#sql = sql
    this.#deadlines = new Deadlines(clock, CALL_MS, KEEP_ALIVE)
  }

  /** Runs a statement with one row, and returns the row. */
  async run(text: string, values: unknown[]): Promise<unknown> {
    try {
      const { rows } = await this.#deadlines.race(this.#query(text, values), {
        answered: (answer) => answer,
        failed: (error) => {
          throw error
        },
        late: () => {
          throw unansweredFailure()
        },
      })
      return rows[0]
    } catch (error) {
      throw failureOf(error)
    }
  }

  async #query(text: string, values: unknown[]): Promise<{ readonly rows: readonly unknown[] }> {
    const isPg = typeof (this.#sql as { readonly connect?: unknown }).connect === 'function'
    if (!isPg) return this.#sql.query(text, values)
    return (this.#sql as unknown as PgClient).query({ text, values, query_timeout: QUERY_MS })
  }
}

/** Creates the failure of a reply in another format. */
export function invalidReply(): PostgresFailure {
  return new PostgresFailure('REPLY', 'the reply of the statement has an unexpected format', { mayHaveCounted: true })
}
