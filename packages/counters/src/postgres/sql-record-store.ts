import type { RecordStore } from '@sluice/limiter-core'
import type { CounterTables } from './counter-tables.ts'

type Query = (text: string, values: unknown[]) => Promise<readonly unknown[]>

/** Number of ended records that each write removes, so that no write takes long. */
const REMOVED_AT_ONCE = 100

/** The records of one name in PostgreSQL, which end by its clock. */
export class SqlRecordStore implements RecordStore {
  readonly #name: string
  readonly #table: string
  readonly #query: Query

  constructor(name: string, { records }: CounterTables, query: Query) {
    this.#name = name
    this.#table = records
    this.#query = query
  }

  async put(id: string, text: string, endsAt: number): Promise<void> {
    const table = this.#table
    // a statement must not change one row twice, so the record itself is not removed
    const statement = `with ended as (select id from ${table} where name = $1 and id <> $2 and ends_at <= clock_timestamp()
    limit ${REMOVED_AT_ONCE} for update skip locked),
  removed as (delete from ${table} r using ended where r.name = $1 and r.id = ended.id)
insert into ${table} (name, id, text, ends_at) values ($1, $2, $3, to_timestamp($4::float8 / 1000))
  on conflict (name, id) do update set text = excluded.text, ends_at = excluded.ends_at`
    await this.#query(statement, [this.#name, id, text, endsAt])
  }

  async all(): Promise<readonly string[]> {
    const statement = `select text from ${this.#table} where name = $1 and ends_at > clock_timestamp()`
    const rows = (await this.#query(statement, [this.#name])) as readonly { readonly text: string }[]
    return rows.map(({ text }) => text)
  }
}
