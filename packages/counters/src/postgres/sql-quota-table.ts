import type {
  AccountChange,
  AccountId,
  EntryQuery,
  QuotaTable,
  StoredAccount,
  StoredEntry,
  StoredNotice,
  StoredUsage,
  StrandedQuery,
  StrandedUnits,
  UsageQuery,
} from '../ledger/quota-table.ts'
import { PARTLY_WRITTEN, type QuotaStatements } from './quota-statements.ts'

type Query = (text: string, values: unknown[]) => Promise<readonly unknown[]>

export interface SqlQuotaTableOptions {
  readonly statements: QuotaStatements
  readonly query: Query
  /** Replaces the database's clock in tests; returns epoch ms. */
  readonly serverTime: (() => number) | undefined
  /** See `QuotaTable`. */
  readonly opening: string | undefined
}

/**
 * Quota accounts in PostgreSQL. Results are converted with `Number`, because some clients return 64-bit integers as
 * strings.
 */
export class SqlQuotaTable implements QuotaTable {
  readonly opening: string | undefined
  readonly #statements: QuotaStatements
  readonly #query: Query
  readonly #time: () => number | null

  constructor({ statements, query, serverTime, opening }: SqlQuotaTableOptions) {
    this.opening = opening
    this.#statements = statements
    this.#query = query
    this.#time = () => serverTime?.() ?? null
  }

  async read(ids: readonly AccountId[]): ReturnType<QuotaTable['read']> {
    const values = [ids.map(({ name }) => name), ids.map(({ key }) => key), this.#time()]
    const rows = (await this.#query(this.#statements.read, values)) as readonly (StoredAccount & { now: unknown })[]
    const accounts = rows.filter(({ name }) => name !== null).map((row) => ({ ...row, version: Number(row.version) }))
    return { now: Number(rows[0].now), accounts }
  }

  async commit(changes: readonly AccountChange[], together = false): ReturnType<QuotaTable['commit']> {
    const values = [...accountColumns(changes), ...journalColumns(changes), this.#time()]
    const { now, written } = await (together ? this.#commitTogether(values) : this.#commit('commit', values))
    const numbers = new Set(written.map(Number))
    return { now: Number(now), written: changes.map((_, index) => numbers.has(index + 1)) }
  }

  async usedToken({ name, key }: AccountId, token: string): Promise<StoredEntry | undefined> {
    const rows = await this.#query(this.#statements.usedToken, [name, key, token])
    return rows.map(entryOf)[0]
  }

  async due(names: readonly string[], limit: number): Promise<readonly AccountId[]> {
    return (await this.#query(this.#statements.due, [names, limit, this.#time()])) as readonly AccountId[]
  }

  async usage({ name, key, from, until, after, limit }: UsageQuery): Promise<readonly StoredUsage[]> {
    const values = [name, key ?? null, from, until, after?.key ?? null, after?.hour ?? null, limit]
    const rows = (await this.#query(this.#statements.usage, values)) as readonly StoredUsage[]
    return rows.map((row) => ({
      ...row,
      hour: Math.round(Number(row.hour)),
      units: Number(row.units),
      stranded: Number(row.stranded),
      toppedUp: Number(row.toppedUp),
    }))
  }

  async entries({ name, key, after, limit }: EntryQuery): Promise<readonly StoredEntry[]> {
    return (await this.#query(this.#statements.entries, [name, key ?? null, after, limit])).map(entryOf)
  }

  async stranded({ name, key, limit }: StrandedQuery): Promise<readonly StrandedUnits[]> {
    const rows = (await this.#query(this.#statements.stranded, [name, key ?? null, limit])) as readonly StrandedUnits[]
    return rows.map((row) => ({ ...row, units: Number(row.units), at: Math.round(Number(row.at)) }))
  }

  async undelivered(names: readonly string[], ageMs: number, limit: number): Promise<readonly StoredNotice[]> {
    const rows = (await this.#query(this.#statements.undelivered, [
      ageMs,
      limit,
      this.#time(),
      names,
    ])) as readonly StoredNotice[]
    return rows.map((row) => ({ ...row, used: Number(row.used), included: Number(row.included) }))
  }

  async delivered(ids: readonly string[]): Promise<void> {
    await this.#query(this.#statements.delivered, [ids])
  }

  async #commit(statement: 'commit' | 'commitTogether', values: unknown[]): Promise<CommitRow> {
    const [row] = (await this.#query(this.#statements[statement], values)) as readonly CommitRow[]
    return row
  }

  async #commitTogether(values: unknown[]): Promise<CommitRow> {
    try {
      return await this.#commit('commitTogether', values)
    } catch (error) {
      if ((error as { readonly code?: unknown } | null)?.code !== PARTLY_WRITTEN) throw error
      return { ...(await this.read([])), written: [] }
    }
  }
}

interface CommitRow {
  readonly now: unknown
  readonly written: readonly unknown[]
}

function accountColumns(changes: readonly AccountChange[]): unknown[] {
  return [
    changes.map(({ name }) => name),
    changes.map(({ key }) => key),
    changes.map(({ version }) => version),
    changes.map(({ state }) => state),
    changes.map(({ from }) => from),
    changes.map(({ until }) => until),
    changes.map(({ dueAt }) => dueAt ?? null),
    changes.map(({ token }) => token ?? null),
    changes.map(({ basedOn }) => basedOn ?? null),
  ]
}

/** Returns the columns of entries, usage and notices, each beginning with the number of the account. */
function journalColumns(changes: readonly AccountChange[]): unknown[] {
  const numbered = <T>(linesOf: (change: AccountChange) => readonly T[]): (T & { readonly account: number })[] =>
    changes.flatMap((change, index) => linesOf(change).map((line) => ({ ...line, account: index + 1 })))
  const entries = numbered((change) => change.entries)
  const usage = numbered((change) => change.usage)
  const notices = numbered((change) => change.notices)
  return [
    ...columns(entries, ['account', 'kind', 'token', 'ref', 'units', 'period']),
    ...columns(usage, ['account', 'hour', 'units', 'stranded', 'toppedUp']),
    ...columns(notices, ['account', 'period', 'threshold', 'used', 'included', 'id']),
  ]
}

function columns<T>(rows: readonly T[], names: readonly (keyof T)[]): unknown[][] {
  return names.map((name) => rows.map((row) => row[name]))
}

function entryOf(row: unknown): StoredEntry {
  const entry = row as StoredEntry
  return { ...entry, number: Number(entry.number), units: Number(entry.units), at: Math.round(Number(entry.at)) }
}
