import type { CounterTables } from './counter-tables.ts'

/**
 * SQL statements of the quota accounts in a ledger. Times are epoch ms; a time parameter of null means the database's
 * clock.
 */
export interface QuotaStatements {
  readonly read: string
  readonly commit: string
  /** Takes the parameters of `commit`. Fails with `PARTLY_WRITTEN` if another process created one of the accounts. */
  readonly commitTogether: string
  readonly usedToken: string
  readonly due: string
  readonly usage: string
  readonly entries: string
  readonly stranded: string
  readonly undelivered: string
  readonly delivered: string
}

/** SQLSTATE of `commitTogether` if only some of the changes could be written: a division by zero. */
export const PARTLY_WRITTEN = '22012'
const ENTRY = 'number, name, key, kind, token, ref, units, period, extract(epoch from at) * 1000 as at'

export function quotaStatements(tables: CounterTables): QuotaStatements {
  const { quotaAccounts, quotaEntries, quotaUsage, quotaNotices } = tables
  return {
    read: `with clock as (${clockOf('$3')})
select clock.now, a.name, a.key, a.version, a.state from clock
left join (${quotaAccounts} a join unnest($1::text[], $2::text[]) as given (name, key)
  on a.name = given.name and a.key = given.key) on true`,
    commit: commitStatement(tables),
    commitTogether: togetherStatement(tables),
    usedToken: `select ${ENTRY} from ${quotaEntries} where name = $1 and key = $2 and token = $3`,
    due: `with clock as (${clockOf('$3')})
select a.name, a.key from ${quotaAccounts} a, clock
where a.due_at <= to_timestamp(clock.now / 1000) and a.name = any($1::text[]) order by a.due_at limit $2`,
    usage: `select name, key, extract(epoch from hour) * 1000 as hour, units, stranded, topped_up as "toppedUp" from ${quotaUsage}
where name = $1 and ($2::text is null or key = $2) and hour >= to_timestamp($3::float8 / 1000) and hour < to_timestamp($4::float8 / 1000)
and ($5::text is null or (key, hour) > ($5, to_timestamp($6::float8 / 1000))) order by key, hour limit $7`,
    entries: `select ${ENTRY} from ${quotaEntries}
where name = $1 and ($2::text is null or key = $2) and number > $3 order by number limit $4`,
    stranded: `select name, key, ref, period, sum(units) as units, min(extract(epoch from at) * 1000) as at from ${quotaEntries}
where name = $1 and ($2::text is null or key = $2) and kind in ('stranded', 'reported', 'credit')
group by name, key, ref, period having sum(units) > 0 order by min(number) limit $3`,
    undelivered: `with clock as (${clockOf('$3')}), late as (
  select n.name, n.key, n.period, n.threshold from ${quotaNotices} n, clock
  where n.delivered_at is null and n.name = any($4::text[]) and n.claimed_at <= to_timestamp((clock.now - $1::float8) / 1000)
  order by n.claimed_at limit $2 for update of n skip locked
)
update ${quotaNotices} n set claimed_at = to_timestamp(clock.now / 1000) from late, clock
where n.name = late.name and n.key = late.key and n.period = late.period and n.threshold = late.threshold
returning n.name, n.key, n.period, n.threshold, n.used, n.included, n.id`,
    delivered: `update ${quotaNotices} set delivered_at = now() where id = any($1::text[]) and delivered_at is null`,
  }
}

/**
 * Writes changes of accounts in one statement. An account updates no row, and nothing that depends on it is written, if
 * its version or state differs, its token was used, or the clock is outside its time range. Rows are locked in the
 * order of their keys to prevent deadlocks.
 *
 * Parameters: for each account $1 name, $2 key, $3 version, $4 state, $5 from, $6 until, $7 due, $8 token, $9 hash of
 * the previous state. The rows that belong to an account begin with its number, from 1: entries $10 to $15, usage $16
 * to $20, notices $21 to $26. $27 is the time.
 */
function commitStatement(tables: CounterTables): string {
  const { quotaAccounts } = tables
  return `with clock as (${clockOf('$27')}), given as (
${GIVEN}
), fresh as (
  select g.* from given g, clock where clock.now >= g.starts and clock.now < g.ends
  and (g.version = 1 or exists (
    select 1 from ${quotaAccounts} a where a.name = g.name and a.key = g.key and a.version = g.version - 1
    and encode(sha256(convert_to(a.state, 'UTF8')), 'hex') = g.based_on))
  and ${unusedToken(tables)}
), ${writesOf(tables, 'fresh')}
select clock.now, array(select at::int from written) as written from clock`
}

/**
 * Writes changes of accounts like `commitStatement`, but either all or none. If all accounts exist, their rows are locked,
 * in the order of their keys, before they are compared. New accounts cannot be locked, so they are created in that
 * order; if another process changes one of the accounts meanwhile, the division by zero undoes the statement.
 */
function togetherStatement(tables: CounterTables): string {
  const { quotaAccounts } = tables
  const stored = `select a.name, a.key, a.version, a.state from ${quotaAccounts} a
  join given g on a.name = g.name and a.key = g.key`
  return `with clock as (${clockOf('$27')}), given as (
${GIVEN}
), locked as (
  ${stored} where not exists (select 1 from given where version = 1)
  order by a.name collate "C", a.key collate "C" for update of a
), known as (
  select * from locked
  union all ${stored} where exists (select 1 from given where version = 1)
), fresh as (
  select g.* from given g left join known k on k.name = g.name and k.key = g.key cross join clock
  where clock.now >= g.starts and clock.now < g.ends and coalesce(k.version, 0) = g.version - 1
  and encode(sha256(convert_to(k.state, 'UTF8')), 'hex') is not distinct from g.based_on
  and ${unusedToken(tables)}
), complete as (
  select * from fresh where (select count(*) from fresh) = (select count(*) from given)
), ${writesOf(tables, 'complete')}
select clock.now, array(select at::int from written) as written,
  1 / (case when (select count(*) from written) in (0, (select count(*) from given)) then 1 else 0 end) as together
from clock`
}

const GIVEN = `  select * from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::float8[], $6::float8[], $7::float8[], $8::text[], $9::text[])
  with ordinality as g (name, key, version, state, starts, ends, due, token, based_on, at)`

/** Returns the condition that the token of a change is unused. */
function unusedToken({ quotaEntries }: CounterTables): string {
  return `(g.token is null or not exists (
    select 1 from ${quotaEntries} e where e.name = g.name and e.key = g.key and e.token = g.token))`
}

/** Returns the part of a statement that writes the changes in the table `changes`, whose numbers `written` contains. */
function writesOf({ quotaAccounts, quotaEntries, quotaUsage, quotaNotices }: CounterTables, changes: string): string {
  return `moved as (
  insert into ${quotaAccounts} as a (name, key, version, state, due_at, updated_at)
  select name, key, version, state, to_timestamp(due / 1000), now() from ${changes} order by name collate "C", key collate "C"
  on conflict (name, key) do update set
    version = excluded.version, state = excluded.state, due_at = excluded.due_at, updated_at = excluded.updated_at
  where a.version = excluded.version - 1
  returning a.name, a.key
), written as (
  select g.at, g.name, g.key from given g join moved m on m.name = g.name and m.key = g.key
), entered as (
  insert into ${quotaEntries} (name, key, kind, token, ref, units, period, at)
  select w.name, w.key, e.kind, e.token, e.ref, e.units, e.period, to_timestamp(clock.now / 1000)
  from unnest($10::int[], $11::text[], $12::text[], $13::text[], $14::bigint[], $15::text[])
    with ordinality as e (at, kind, token, ref, units, period, place)
  join written w on w.at = e.at, clock order by e.place
  on conflict (name, key, token) where token is not null do nothing
), added as (
  insert into ${quotaUsage} as u (name, key, hour, units, stranded, topped_up)
  select w.name, w.key, to_timestamp(l.hour / 1000), l.units, l.stranded, l.topped_up
  from unnest($16::int[], $17::float8[], $18::bigint[], $19::bigint[], $20::bigint[]) as l (at, hour, units, stranded, topped_up)
  join written w on w.at = l.at order by w.name collate "C", w.key collate "C", l.hour
  on conflict (name, key, hour) do update set
    units = u.units + excluded.units, stranded = u.stranded + excluded.stranded, topped_up = u.topped_up + excluded.topped_up
), noticed as (
  insert into ${quotaNotices} (name, key, period, threshold, used, included, id, claimed_at)
  select w.name, w.key, n.period, n.threshold, n.used, n.included, n.id, to_timestamp(clock.now / 1000)
  from unnest($21::int[], $22::text[], $23::int[], $24::bigint[], $25::bigint[], $26::text[])
    as n (at, period, threshold, used, included, id)
  join written w on w.at = n.at, clock
  on conflict (name, key, period, threshold) do nothing
)`
}

function clockOf(time: string): string {
  return `select coalesce(${time}::float8, extract(epoch from clock_timestamp()) * 1000)::float8 as now`
}
