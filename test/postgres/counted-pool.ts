import type { SqlRunner } from '@sluice/limiter-core'
import type { Pool } from 'pg'

type Statement = string | { readonly text: string; readonly values: unknown[] }

/** A pool that counts the statements of turns. */
export class CountedPool implements SqlRunner {
  readonly #pool: Pool
  turns = 0
  /** Called before each statement is sent. */
  before: () => Promise<void> = async () => {}

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Makes it look like a pool of `pg`. */
  connect(): unknown {
    return this.#pool.connect()
  }

  async query(statement: Statement, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }> {
    const text = typeof statement === 'string' ? statement : statement.text
    if (text.startsWith('select') && /limit1_(take|decide)/.test(text)) this.turns++
    await this.before()
    return typeof statement === 'string' ? this.#pool.query(statement, values) : this.#pool.query({ ...statement })
  }
}
