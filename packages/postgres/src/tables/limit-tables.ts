import { SluiceError, type SqlRunner, shown } from '@sluice/limiter-core/backend'
import { turnFunction } from './turn-function.ts'

/** Advisory lock of `migrate`, which keeps two processes from creating the tables at once. 'limits' in ASCII. */
const LOCK = 0x6c696d697473

/** Names, migration and statements of the tables of limits in PostgreSQL. */
export class LimitTables {
  readonly schema: string
  /** One row for each counted key. */
  readonly limits: string
  /** Adjustments that were applied recently, by idempotency key. */
  readonly commands: string
  /** An unlogged row: PostgreSQL deletes it in each crash recovery, and replicas do not have it. */
  readonly epoch: string
  /** The function that reads, compares and writes the rows of one turn. Its name contains the version of its call. */
  readonly turn: string

  /**
   * Throws `SLUICE_BAD_OPTION` unless `schema` is 1 to 63 lower-case letters, digits and `_` and does not begin with a
   * digit.
   */
  constructor(schema: string) {
    if (typeof schema !== 'string' || !/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
      const expected = 'a name of 1 to 63 lower-case letters, digits and _, not starting with a digit'
      throw new SluiceError(
        'SLUICE_BAD_OPTION',
        `postgresBackend: schema: expected ${expected}, received ${shown(schema)}`,
      )
    }
    this.schema = schema
    this.limits = `${schema}.limits`
    this.commands = `${schema}.limit_commands`
    this.epoch = `${schema}.limit_epoch`
    this.turn = `${schema}.limit_turn_1`
  }

  /** Creates what is missing. One statement, so that every client runs it as one transaction. */
  async migrate(sql: SqlRunner): Promise<void> {
    await sql.query(this.#migration())
  }

  /** Statements that delete up to `most` expired rows each, locked in the order of their keys, and return their number. */
  pruneStatements(most: number): readonly string[] {
    return [
      pruneStatement(this.limits, 'name', most),
      // the columns of the primary key, in the same order in all processes
      pruneStatement(this.commands, 'id, name', most),
    ]
  }

  #migration(): string {
    const { schema, limits, commands, epoch, turn } = this
    return `do $migrate$ begin
perform pg_advisory_xact_lock(${LOCK});
if to_regprocedure('${turn}(${TURN_TYPES})') is not null then return; end if;
create schema if not exists ${schema};
create table if not exists ${limits} (
  name text collate "C" primary key,
  version bigint not null,
  cells float8[] not null,
  reset_at float8 not null,
  refunded_at float8 not null,
  kept_until float8 not null
) with (fillfactor = 70);
create index if not exists limits_kept_until on ${limits} (kept_until);
create table if not exists ${commands} (
  id text collate "C" not null,
  name text collate "C" not null,
  moved float8 not null,
  kept_until float8 not null,
  primary key (id, name)
);
create index if not exists limit_commands_kept_until on ${commands} (kept_until);
create unlogged table if not exists ${epoch} (sole boolean primary key, since float8 not null);
${turnFunction(this)}
end $migrate$`
  }
}

/** Parameter types of the function, for its look-up. */
const TURN_TYPES =
  'text[],int[],bigint[],text[],boolean[],float8[],float8[],float8[],float8[],float8,bigint,text[],text[],int[],float8[],boolean'

/** Locks before it deletes: the rows of a `delete` are locked in an unspecified order. */
function pruneStatement(table: string, keys: string, most: number): string {
  const now = 'extract(epoch from now()) * 1000'
  return `with expired as (
  select ${keys} from ${table}
  where (${keys}) in (select ${keys} from ${table} where kept_until < ${now} order by kept_until limit ${most})
  order by ${keys} for update
), deleted as (
  delete from ${table} as t where (${keys}) in (select ${keys} from expired) and t.kept_until < ${now} returning 1
) select count(*)::int as deleted from deleted`
}
