import { createHash } from 'node:crypto'
import { SluiceError, type SqlRunner, shown } from '@sluice/limiter-core/backend'
import { algorithmFunctions } from '../functions/algorithm-functions.ts'
import { deadlineFunction } from '../functions/deadline-function.ts'
import { decideFunction } from '../functions/decide-function.ts'
import { holdFunctions } from '../functions/hold-functions.ts'
import { knownFunctions } from '../functions/known-functions.ts'
import { takeFunctions } from '../functions/take-function.ts'
import { timeFunctions } from '../functions/time-functions.ts'
import { variantFunctions } from '../functions/variant-functions.ts'

/** Seed of the hashes of row names, and the advisory lock of `migrate`. 'limits' in ASCII. */
const LOCK = 0x6c696d697473

/** Names, migration and statements of the tables of limits in PostgreSQL. */
export class LimitTables {
  readonly schema: string
  /** One row for each counted key. Rows whose names begin with a space belong to commands and resets. */
  readonly limits: string
  /** An unlogged row: PostgreSQL deletes it in each crash recovery, and replicas do not have it. */
  readonly epoch: string

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
    this.epoch = `${schema}.limit_epoch`
  }

  /**
   * Creates what is missing, and replaces functions of another release. One statement, so that every client runs it as
   * one transaction.
   */
  async migrate(sql: SqlRunner): Promise<void> {
    await sql.query(this.#migration())
  }

  /**
   * Returns the statement that deletes up to `most` expired rows, and returns their number. It never waits for a row that
   * a decision is changing, so that it is part of no deadlock.
   */
  pruneStatement(most: number): string {
    const now = "date_part('epoch', now()) * 1000"
    return `with expired as (
  select name from ${this.limits} where kept_until < ${now} order by kept_until limit ${most} for update skip locked
), deleted as (
  delete from ${this.limits} as t where name in (select name from expired) and t.kept_until < ${now} returning 1
) select count(*)::int as deleted from deleted`
  }

  #migration(): string {
    const { schema, limits, epoch } = this
    const functions = [
      timeFunctions,
      algorithmFunctions,
      variantFunctions,
      holdFunctions,
      knownFunctions,
      deadlineFunction,
      takeFunctions,
      decideFunction,
    ]
    const text = functions.map((create) => create({ schema, epoch, lockSeed: LOCK })).join('\n')
    const decide = `${schema}.limit1_decide(float8,float8,boolean,text[],text[],float8[])`
    const release = createHash('sha256').update(text).digest('hex').slice(0, 16)
    return `do $migrate$ begin
perform pg_advisory_xact_lock(${LOCK});
-- a user who only counts may call it, too
if obj_description(to_regprocedure('${decide}'), 'pg_proc') = '${release}' then return; end if;
create schema if not exists ${schema};
create table if not exists ${limits} (
  name text collate "C" primary key,
  cells float8[] not null,
  kept_until float8 not null
) with (fillfactor = 50);
create index if not exists limits_kept_until on ${limits} (kept_until);
create unlogged table if not exists ${epoch} (sole boolean primary key, since float8 not null);
if to_regtype('${schema}.limit1_cells') is null then
  create type ${schema}.limit1_cells as (c float8[]);
end if;
${text}
comment on function ${decide} is '${release}';
end $migrate$`
  }
}
