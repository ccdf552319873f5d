import type { CounterTables } from './counter-tables.ts'

/**
 * SQL statements of the sketches in a ledger. $1 is the name and $2 the kind in all of them. Bytes are sent as base64,
 * which every client supports.
 */
export interface SketchStatements {
  readonly claimFormat: string
  readonly append: string
  readonly read: string
  readonly replace: string
  readonly mergeableGroups: string
  readonly deleteBefore: string
}

const HOURS = 24

export function sketchStatements({ sketches, formats, writers }: CounterTables): SketchStatements {
  return {
    // an update that changes nothing returns the row even if another process has just inserted it
    claimFormat: `insert into ${formats} as f (name, kind, format) values ($1, $2, $3)
on conflict (name, kind) do update set format = f.format
returning format`,
    append: `with moved as (
  insert into ${writers} as w (name, writer, number, moved_at) values ($1, $3, $4, now())
  on conflict (name, writer) do update set number = excluded.number, moved_at = now() where w.number < excluded.number
  returning 1
), added as (
  insert into ${sketches} (name, kind, id, first_hour, hours, bytes)
  select $1, $2, given.id, given.first_hour, given.hours, decode(given.bytes, 'base64')
  from unnest($5::text[], $6::bigint[], $7::smallint[], $8::text[]) as given (id, first_hour, hours, bytes)
  where exists (select 1 from moved)
)
select 1 from moved`,
    // a row does not extend beyond its day, so a row with a given hour begins less than a day before it
    read: `select part, first_hour as "firstHour", hours, encode(bytes, 'base64') as bytes from ${sketches}
where name = $1 and kind = $2 and id = $3
  and first_hour < $5::bigint and first_hour > $4::bigint - ${HOURS} and first_hour + hours > $4::bigint`,
    replace: replaceStatement(sketches),
    mergeableGroups: `select id, first, span from (
  select id,
    case when hours > 1 or first_hour < $3::bigint then first_hour - first_hour % ${HOURS} else first_hour end as first,
    case when hours > 1 or first_hour < $3::bigint then ${HOURS} else 1 end as span
  from ${sketches} where name = $1 and kind = $2
) as rows
where $4::text is null or (id, first, span) > ($4::text, $5::bigint, $6::int)
group by id, first, span having count(*) > 1 order by id, first, span limit $7`,
    deleteBefore: `delete from ${sketches} where name = $1 and kind = $2
  and first_hour < least($3::bigint, (floor(extract(epoch from now()) / 86400)::bigint - $4::bigint + 1) * ${HOURS})`,
  }
}

/**
 * Replaces rows in one statement. Of concurrent replacements, the first to lock the rows deletes them; the others then
 * find fewer rows than given and do nothing. Rows are locked in the order of their keys to prevent deadlocks.
 *
 * Parameters: $3 id; for each old row $4 first hour, $5 part; of the new row $6 first hour, $7 hours, $8 bytes.
 */
function replaceStatement(sketches: string): string {
  return `with given as (
  select * from unnest($4::bigint[], $5::bigint[]) as rows (first_hour, part)
), locked as (
  select s.first_hour, s.part from ${sketches} s
  where s.name = $1 and s.kind = $2 and s.id = $3 and (s.first_hour, s.part) in (select first_hour, part from given)
  order by s.first_hour, s.part for update
), gone as (
  delete from ${sketches} s using locked
  where s.name = $1 and s.kind = $2 and s.id = $3 and s.first_hour = locked.first_hour and s.part = locked.part
    and (select count(*) from locked) = (select count(*) from given)
  returning 1
)
insert into ${sketches} (name, kind, id, first_hour, hours, bytes)
select $1, $2, $3, $6, $7, decode($8, 'base64') where (select count(*) from gone) = (select count(*) from given)
returning 1`
}
