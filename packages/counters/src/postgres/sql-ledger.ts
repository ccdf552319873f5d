import type { Clock, RecordStore, SqlRunner } from '@sluice/limiter-core'
import { SluiceError } from '@sluice/limiter-core/backend'
import type { CounterLedger, CounterTable } from '../ledger/counter-ledger.ts'
import type { QuotaTable } from '../ledger/quota-table.ts'
import type { SketchTable, StoredSketchKind } from '../ledger/sketch-table.ts'
import { CounterTables, isMissing } from './counter-tables.ts'
import { type LedgerStatements, ledgerStatements } from './ledger-statements.ts'
import { quotaStatements } from './quota-statements.ts'
import { type SketchStatements, sketchStatements } from './sketch-statements.ts'
import { SqlQuotaTable } from './sql-quota-table.ts'
import { SqlRecordStore } from './sql-record-store.ts'
import { SqlSketchTable } from './sql-sketch-table.ts'
import { SqlTable } from './sql-table.ts'

const PRUNE_MS = 3_600_000

interface SqlLedgerOptions {
  readonly schema: string
  readonly clock: Clock
  readonly end: () => Promise<void>
  /** See `QuotaTable`. */
  readonly opening?: string | undefined
}

/** Ledger in PostgreSQL, created by `postgresLedger` or `embeddedLedger`. */
export class SqlLedger implements CounterLedger {
  readonly durable = true
  /** Database of the ledger. `postgresBackend(ledger.sql)` stores limits in the same pool or folder. */
  readonly sql: SqlRunner
  readonly #clock: Clock
  readonly #tables: CounterTables
  readonly #statements: LedgerStatements
  readonly #sketchStatements: SketchStatements
  readonly #end: () => Promise<void>
  readonly #opening: string | undefined
  #isChecked = false
  #prunedAt: number

  constructor(sql: SqlRunner, { schema, clock, end, opening }: SqlLedgerOptions) {
    this.sql = sql
    this.#clock = clock
    this.#tables = new CounterTables(schema)
    this.#statements = ledgerStatements(this.#tables)
    this.#sketchStatements = sketchStatements(this.#tables)
    this.#end = end
    this.#opening = opening
    this.#prunedAt = clock.now()
  }

  /**
   * Creates the tables, or adds what tables of an earlier release lack; does nothing if they are up to date. Several
   * processes may call it at once while others count. It needs the right to create a schema; counting only needs
   * `usage` of the schema and `select, insert, update, delete` on its tables. Rejects with `SLUICE_COUNTER_TABLES` if
   * the tables belong to a later release that this one cannot use.
   */
  async migrate(): Promise<void> {
    await this.#tables.migrate(this.sql)
    this.#isChecked = true
  }

  open(name: string): CounterTable {
    return new SqlTable(name, this.#statements, (text, values) => this.#query(text, values))
  }

  openSketches(name: string, kind: StoredSketchKind): SketchTable {
    const query = (text: string, values: unknown[]): Promise<readonly unknown[]> => this.#query(text, values)
    return new SqlSketchTable(name, kind, { statements: this.#sketchStatements, query })
  }

  openQuotas(serverTime?: () => number): QuotaTable {
    const query = (text: string, values: unknown[]): Promise<readonly unknown[]> => this.#query(text, values)
    const opening = this.#opening
    return new SqlQuotaTable({ statements: quotaStatements(this.#tables), query, serverTime, opening })
  }

  openRecords(name: string): RecordStore {
    return new SqlRecordStore(name, this.#tables, (text, values) => this.#query(text, values))
  }

  /** Deletes expired tokens, writers and deleted counters. Runs automatically once an hour. */
  async prune(): Promise<void> {
    this.#prunedAt = this.#clock.now()
    for (const statement of this.#statements.prune) await this.sql.query(statement)
  }

  close(): Promise<void> {
    return this.#end()
  }

  async #query(text: string, values: unknown[]): Promise<readonly unknown[]> {
    // not shared between calls: a check without a reply must not delay other calls
    if (!this.#isChecked) await this.#tables.check(this.sql)
    this.#isChecked = true
    const { rows } = await this.sql.query(text, values).catch((error: unknown) => {
      if (!isMissing(error)) throw error
      const message =
        'the counter tables are missing or this user may not write them; call migrate() or grant the rights'
      throw new SluiceError('SLUICE_COUNTER_TABLES', message, { cause: error })
    })
    if (this.#clock.now() - this.#prunedAt > PRUNE_MS) this.prune().catch(() => {})
    return rows
  }
}
