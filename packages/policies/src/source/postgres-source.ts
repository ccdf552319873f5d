import { badOption, optionsOf, type SqlRunner } from '@sluice/limiter-core/backend'
import { DocumentTable } from './document-table.ts'
import type { WritablePolicySource } from './policy-source.ts'
import { StoredSource, type StoredSourceOptions } from './stored-source.ts'

export interface PostgresSourceOptions extends StoredSourceOptions {
  /** Name of the document, which is the key of its row. Default: `default`. */
  readonly name?: string | undefined
  /** Name of the table, also with its schema, such as `limits.policies`. Default: `sluice_policies`. */
  readonly table?: string | undefined
}

const OPTIONS = ['name', 'table', 'timeoutMs', 'clock'] as const

/**
 * Creates a source for a document in PostgreSQL: a row of a table with the columns `name`, `version`, `document` and
 * `published_at`. `publish` writes the row, and creates the table if it does not exist. Each look at the source is one
 * statement, which returns the document only if it has changed.
 *
 * `pool` is a `Pool` of `pg`, or another client with its `query` method, such as a `PGlite`. The caller closes it.
 *
 * Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`.
 */
export function postgresSource(pool: SqlRunner, options: PostgresSourceOptions = {}): WritablePolicySource {
  return new PostgresSource(pool, optionsOf('postgresSource', options, OPTIONS))
}

/** What a statement that reads a document returns. */
interface DocumentRow {
  /** Version and digest. */
  readonly mark: string
  /** Null if the mark is the one that was sent. */
  readonly document: string | null
}

class PostgresSource extends StoredSource {
  readonly name: string
  readonly #pool: SqlRunner
  readonly #row: string
  readonly #table: DocumentTable
  #mark = ''

  constructor(pool: SqlRunner, options: PostgresSourceOptions) {
    super('postgresSource', options)
    const { name = 'default', table = 'sluice_policies' } = options
    if (typeof pool?.query !== 'function') {
      throw badOption('postgresSource: pool', pool, 'a Pool of pg or another client with a query method')
    }
    if (typeof name !== 'string' || name === '') throw badOption('postgresSource: name', name, 'the name of a document')
    this.#pool = pool
    this.#row = name
    this.#table = new DocumentTable('postgresSource: table', table)
    this.name = `postgres:${table}/${name}`
  }

  protected async load(): Promise<string | undefined> {
    const { rows } = await this.inTime(this.#pool.query(this.#table.read, [this.#row, this.#mark]))
    const [row] = rows as readonly DocumentRow[]
    if (row === undefined) throw new Error('expected a row with this name, received none')
    this.#mark = row.mark
    return row.document ?? undefined
  }

  protected async store(text: string): Promise<number> {
    const [row] = (await this.inTime(this.#write(text))) as readonly { readonly version: unknown }[]
    return Number(row.version)
  }

  async #write(text: string): Promise<readonly unknown[]> {
    const values = [this.#row, text]
    try {
      return (await this.#pool.query(this.#table.write, values)).rows
    } catch (error) {
      if (!DocumentTable.isMissing(error)) throw error
    }
    // if several processes create the table at once, all but one may fail although the table then exists
    const failure = await this.#pool.query(this.#table.create).then(
      () => undefined,
      (error: unknown) => error,
    )
    return this.#pool.query(this.#table.write, values).then(
      ({ rows }) => rows,
      (error) => Promise.reject(failure ?? error),
    )
  }
}
