import { TOKEN_MS } from '../ledger/counter-ledger.ts'
import type { CounterTables } from './counter-tables.ts'

/** A writer that has been silent for this time has no batch under way. */
const WRITER_DAYS = 7
/** Time for which the row of a deleted counter is kept, so that units counted before the deletion do not restore it. */
const DELETED_DAYS = 7

/** SQL statements of the counters in a ledger. */
export interface LedgerStatements {
  readonly apply: string
  readonly read: string
  readonly list: string
  readonly sum: string
  readonly clear: string
  readonly tokens: string
  readonly prune: readonly string[]
}

const ENTRY = 'id, value, version, extract(epoch from updated_at) * 1000 as "updatedAt"'

export function ledgerStatements(tables: CounterTables): LedgerStatements {
  const { counters, writers, tokens } = tables
  const inRange = `from ${counters} where name = $1 and not deleted and id >= $2 and ($3::text is null or id < $3)`
  return {
    apply: applyStatement(tables),
    read: `select 'entry' as kind, ${ENTRY} from ${counters} where name = $1 and id = any($2::text[])
union all select 'writer', writer, number, null, null from ${writers} where name = $1 and writer = $3`,
    list: `select ${ENTRY} ${inRange} and ($4::text is null or id > $4) order by id limit $5`,
    sum: `select coalesce(sum(value), 0) as sum ${inRange}`,
    clear: `insert into ${counters} as c (name, id, value, version, updated_at, reset_at, deleted)
values ($1, $2, 0, 1, now(), clock_timestamp(), true)
on conflict (name, id) do update set
  value = 0, version = c.version + 1, updated_at = now(), reset_at = clock_timestamp(), deleted = c.deleted or $3::boolean
returning ${ENTRY}`,
    tokens: `select token, body, writer, number from ${tokens} where name = $1 and token = any($2::text[])`,
    prune: [
      `delete from ${tokens} where used_at < now() - interval '${TOKEN_MS} ms'`,
      `delete from ${writers} where moved_at < now() - interval '${WRITER_DAYS} days'`,
      `delete from ${counters} where deleted and reset_at < now() - interval '${DELETED_DAYS} days'`,
    ],
  }
}

/**
 * Applies a batch in one statement. A batch whose number is not above the last number of its writer updates no writer
 * row, and all other parts depend on that row. Rows are locked in the order of their keys, writers first, to prevent
 * deadlocks between batches.
 *
 * Parameters: $1 name, $2 writer, $3 number; for each delta $4 id, $5 amount, $6 age in ms, $7 token or ''; for each
 * token $8 token, $9 hash of its deltas.
 */
function applyStatement({ counters, writers, tokens }: CounterTables): string {
  return `with moved as (
  insert into ${writers} as w (name, writer, number, moved_at) values ($1, $2, $3, now())
  on conflict (name, writer) do update set number = excluded.number, moved_at = now() where w.number < excluded.number
  returning 1
), used as (
  insert into ${tokens} as t (name, token, body, writer, number, used_at)
  select $1, given.token, given.body, $2, $3, now() from unnest($8::text[], $9::text[]) as given (token, body)
  where exists (select 1 from moved) order by given.token
  on conflict (name, token) do update
  set body = excluded.body, writer = excluded.writer, number = excluded.number, used_at = excluded.used_at
  where t.used_at < now() - interval '${TOKEN_MS} ms'
  returning token
), folded as (
  select given.id, sum(given.amount)::bigint as amount, clock_timestamp() - max(given.age) * interval '1 ms' as since
  from unnest($4::text[], $5::bigint[], $6::float8[], $7::text[]) as given (id, amount, age, token)
  where exists (select 1 from moved) and (given.token = '' or given.token in (select token from used))
  group by given.id
), counted as (
  insert into ${counters} as c (name, id, value, version, updated_at, reset_at, deleted)
  select $1, id, amount, 1, since, '-infinity', false from folded order by id collate "C"
  on conflict (name, id) do update set
    value = c.value + excluded.value,
    version = c.version + 1,
    updated_at = greatest(c.updated_at, excluded.updated_at),
    deleted = false
  where excluded.updated_at >= c.reset_at
  returning ${ENTRY}
)
select 'moved' as kind, null as id, null::bigint as value, null::bigint as version, null::numeric as "updatedAt" from moved
union all select 'used', token, null, null, null from used
union all select 'counted', id, value, version, "updatedAt" from counted`
}
