import type { SqlRunner } from '@sluice/limiter-core'
import { SluiceError, shown } from '@sluice/limiter-core/backend'

/** Version of the tables that this release reads and writes. */
const VERSION = 3
/** Oldest version whose releases can use tables of `VERSION`: later versions only add tables and columns. */
const READS_FROM = 2
/** Advisory lock of `migrate`, which keeps two processes from creating the tables at once. 'sluice' in ASCII. */
const LOCK = 0x736c75696365
const UNDEFINED_TABLE = '42P01'
const UNDEFINED_SCHEMA = '3F000'
const INSUFFICIENT_PRIVILEGE = '42501'

/** Names and migrations of a ledger's tables in PostgreSQL. */
export class CounterTables {
  readonly schema: string
  readonly counters: string
  readonly writers: string
  readonly tokens: string
  readonly sketches: string
  readonly formats: string
  readonly quotaAccounts: string
  readonly quotaEntries: string
  readonly quotaUsage: string
  readonly quotaNotices: string
  readonly records: string
  readonly version: string

  /**
   * Throws `SLUICE_BAD_OPTION` unless `schema` is 1 to 63 lower-case letters, digits and `_` and does not begin with a
   * digit.
   */
  constructor(schema: string) {
    if (typeof schema !== 'string' || !/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
      const expected = 'a name of 1 to 63 lower-case letters, digits and _, not starting with a digit'
      throw new SluiceError(
        'SLUICE_BAD_OPTION',
        `postgresLedger: schema: expected ${expected}, received ${shown(schema)}`,
      )
    }
    this.schema = schema
    this.counters = `${schema}.counters`
    this.writers = `${schema}.counter_writers`
    this.tokens = `${schema}.counter_tokens`
    this.sketches = `${schema}.counter_sketches`
    this.formats = `${schema}.counter_formats`
    this.quotaAccounts = `${schema}.quota_accounts`
    this.quotaEntries = `${schema}.quota_entries`
    this.quotaUsage = `${schema}.quota_usage`
    this.quotaNotices = `${schema}.quota_notices`
    this.records = `${schema}.records`
    this.version = `${schema}.counter_version`
  }

  /**
   * Creates or updates the tables, step by step from the existing version; does nothing if they are of this or a later
   * version. Rejects with `SLUICE_COUNTER_TABLES` if they belong to a later release and this release cannot use them.
   */
  async migrate(sql: SqlRunner): Promise<void> {
    await sql.query(this.#migration())
    await this.check(sql)
  }

  /**
   * Rejects with `SLUICE_COUNTER_TABLES` unless the tables are of this version, or of a later one that supports this
   * release.
   */
  async check(sql: SqlRunner): Promise<void> {
    // tables of version 1 have no column reads_from
    const found = await sql.query(`select * from ${this.version}`).catch((error: unknown) => {
      if (isMissing(error)) throw this.#mismatch('no tables that this user can read')
      throw error
    })
    const [row] = found.rows as readonly { readonly version: number; readonly reads_from?: number }[]
    const { version, reads_from: readsFrom = version } = row ?? {}
    const isUsable = version !== undefined && version >= VERSION && Number(readsFrom) <= VERSION
    if (!isUsable) throw this.#mismatch(`tables of version ${version}`)
  }

  #mismatch(received: string): SluiceError {
    const expected = `tables of version ${VERSION}, created by migrate()`
    return new SluiceError('SLUICE_COUNTER_TABLES', `schema ${this.schema}: expected ${expected}, received ${received}`)
  }

  /** Returns the migration as one statement, so that every client runs it as one transaction. */
  #migration(): string {
    const { schema, version } = this
    return `do $migrate$ declare existing int := 0; begin
perform pg_advisory_xact_lock(${LOCK});
if to_regclass('${version}') is not null then select version into existing from ${version}; end if;
if existing < 1 then
create schema if not exists ${schema};
${this.#countersStep()}
end if;
if existing < 2 then
${this.#sketchesStep()}
end if;
if existing < 3 then
${this.#quotasStep()}
end if;
${this.#recordsStep()}
end $migrate$`
  }

  /**
   * Creates version 1. The collation "C" compares ids by their bytes, so that ids with a common prefix form a range.
   */
  #countersStep(): string {
    const { counters, writers, tokens, version } = this
    return `create table ${counters} (
  name text collate "C" not null,
  id text collate "C" not null,
  value bigint not null,
  version bigint not null,
  updated_at timestamptz not null,
  reset_at timestamptz not null,
  deleted boolean not null,
  primary key (name, id)
) with (fillfactor = 70);
create table ${writers} (
  name text collate "C" not null,
  writer text collate "C" not null,
  number bigint not null,
  moved_at timestamptz not null,
  primary key (name, writer)
) with (fillfactor = 70);
create table ${tokens} (
  name text collate "C" not null,
  token text collate "C" not null,
  body text not null,
  writer text not null,
  number bigint not null,
  used_at timestamptz not null,
  primary key (name, token)
);
create index on ${tokens} (used_at);
create table ${version} (version int not null);
insert into ${version} values (1);`
  }

  /** Updates version 1 to 2. */
  #sketchesStep(): string {
    const { sketches, formats, version } = this
    return `create table ${sketches} (
  name text collate "C" not null,
  kind text collate "C" not null,
  id text collate "C" not null,
  first_hour bigint not null,
  part bigint generated always as identity,
  hours smallint not null,
  bytes bytea not null,
  primary key (name, kind, id, first_hour, part)
);
alter table ${sketches} alter column bytes set storage external;
create table ${formats} (
  name text collate "C" not null,
  kind text collate "C" not null,
  format text not null,
  primary key (name, kind)
);
alter table ${version} add column reads_from int not null default ${READS_FROM};
update ${version} set version = 2;`
  }

  /**
   * Creates the table of records if it is missing. It has no version of its own, because only changes of operators need
   * it.
   */
  #recordsStep(): string {
    return `create table if not exists ${this.records} (
  name text collate "C" not null,
  id text collate "C" not null,
  text text not null,
  ends_at timestamptz not null,
  primary key (name, id)
);`
  }

  /** Updates version 2 to 3. */
  #quotasStep(): string {
    const { quotaAccounts, quotaEntries, quotaUsage, quotaNotices, version } = this
    return `create table ${quotaAccounts} (
  name text collate "C" not null,
  key text collate "C" not null,
  version bigint not null,
  state text not null,
  due_at timestamptz,
  updated_at timestamptz not null,
  primary key (name, key)
) with (fillfactor = 70);
create index on ${quotaAccounts} (due_at) where due_at is not null;
create table ${quotaEntries} (
  number bigint generated always as identity primary key,
  name text collate "C" not null,
  key text collate "C" not null,
  kind text collate "C" not null,
  token text collate "C",
  ref text collate "C",
  units bigint not null,
  period text collate "C",
  at timestamptz not null
);
create index on ${quotaEntries} (name, key, number);
create unique index on ${quotaEntries} (name, key, token) where token is not null;
create table ${quotaUsage} (
  name text collate "C" not null,
  key text collate "C" not null,
  hour timestamptz not null,
  units bigint not null,
  stranded bigint not null,
  topped_up bigint not null,
  primary key (name, key, hour)
) with (fillfactor = 70);
create table ${quotaNotices} (
  name text collate "C" not null,
  key text collate "C" not null,
  period text collate "C" not null,
  threshold int not null,
  used bigint not null,
  included bigint not null,
  id text collate "C" not null,
  claimed_at timestamptz not null,
  delivered_at timestamptz,
  primary key (name, key, period, threshold)
);
create index on ${quotaNotices} (claimed_at) where delivered_at is null;
create index on ${quotaNotices} (id);
update ${version} set version = ${VERSION};`
  }
}

/** Whether PostgreSQL rejected a statement because tables or the right to use them are missing. */
export function isMissing(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return code === UNDEFINED_TABLE || code === UNDEFINED_SCHEMA || code === INSUFFICIENT_PRIVILEGE
}
