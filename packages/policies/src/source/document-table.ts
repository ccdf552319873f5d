import { badOption } from '@sluice/limiter-core/backend'

const NAME = /^[a-z_][a-z0-9_]{0,62}(\.[a-z_][a-z0-9_]{0,62})?$/
/** SQLSTATE of a statement about a table that does not exist. */
const UNDEFINED_TABLE = '42P01'

/** Statements about a table of documents. */
export class DocumentTable {
  /** Parameters: name, and the mark of the known version. Returns `mark`, and `document` if the mark is another one. */
  readonly read: string
  /** Parameters: name and document. Returns `version`. */
  readonly write: string
  readonly create: string

  /** Throws `SLUICE_BAD_OPTION` unless `table` is a name in lower case, with or without its schema. */
  constructor(option: string, table: string) {
    if (typeof table !== 'string' || !NAME.test(table)) {
      throw badOption(option, table, 'a name of lower-case letters, digits and _, optionally with its schema and a dot')
    }
    const quoted = table
      .split('.')
      .map((part) => `"${part}"`)
      .join('.')
    // the digest finds changes that did not count up the version, and a database that was restored
    this.read = `select mark, case when mark = $2 then null else document end as document from (
  select version || ' ' || encode(sha256(convert_to(document, 'UTF8')), 'hex') as mark, document
  from ${quoted} where name = $1
) as found`
    this.write = `insert into ${quoted} as t (name, version, document) values ($1, 1, $2)
on conflict (name) do update set version = t.version + 1, document = excluded.document, published_at = now()
returning version`
    this.create = `create table if not exists ${quoted} (
  name text primary key,
  version bigint not null,
  document text not null,
  published_at timestamptz not null default now()
)`
  }

  static isMissing(error: unknown): boolean {
    return (error as { readonly code?: unknown } | null)?.code === UNDEFINED_TABLE
  }
}
