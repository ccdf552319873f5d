/** Maximum difference between the server's clock and the time for which a process has decided, in milliseconds. */
const MAX_CLOCK_ERROR_MS = 250
/** How long an applied adjustment is remembered, in milliseconds: twice as long as it may be repeated. */
const REMEMBERED_MS = 60_000
/** Time by which a row is kept longer than needed, so that its index entry changes rarely. */
const SLACK_MS = 60_000

/** The tables that the function uses, and its own name. */
export interface TurnNames {
  readonly limits: string
  readonly commands: string
  readonly epoch: string
  readonly turn: string
}

/**
 * Returns the statement that creates the function of a turn. The function knows no algorithm: it compares versions and
 * stores cells. Keys that are decided together form a group, and a group is written completely or not at all: only if
 * all its keys still have the versions with which the process decided, and before its deadline.
 *
 * Parameters: for each key `names`, `groups`, `versions` (0: no row; -1: read it), `new_cells` (null: only compare),
 * `lives` in ms, `resets`, `refunds`, and `until`, the deadline in server time (null: none); `assumed`, the time of the
 * decisions (null: not checked); `next_version`, unique; for each adjustment `ids`, `id_names`, `id_groups` and `moved`
 * units; `durable`.
 *
 * Rows are locked in the order of their names by one statement, which also inserts missing rows, so that two calls
 * cannot wait for each other. A group that is only compared locks nothing.
 */
export function turnFunction({ limits, commands, epoch, turn }: TurnNames): string {
  return `create function ${turn}(
  names text[], groups int[], versions bigint[], new_cells text[], lives float8[], resets float8[], refunds float8[],
  until float8[], assumed float8, next_version bigint, ids text[], id_names text[], id_groups int[], moved float8[],
  durable boolean
) returns text language plpgsql volatile
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set extra_float_digits = 1
as $turn$
#variable_conflict use_column
declare
  started float8 := extract(epoch from clock_timestamp()) * 1000;
  locked_at float8;
  lost_before float8;
  refused int[];
  written int[];
  repeated json;
begin
  select since into lost_before from ${epoch};
  if lost_before is null then
    insert into ${epoch} values (true, started) on conflict do nothing;
    select since into lost_before from ${epoch};
  end if;
  if abs(started - assumed) > ${MAX_CLOCK_ERROR_MS} then
    refused := groups;
  else
    select coalesce(array_agg(distinct g.part), '{}') into refused
    from unnest(names, groups, versions, until) as g (name, part, version, until)
    left join ${limits} as l on l.name = g.name
    where coalesce(l.version, 0) <> g.version or started > g.until;
  end if;
  select array_agg(distinct g.part) into written
  from unnest(groups, new_cells) as g (part, cells) where g.cells is not null and g.part <> all (refused);
  if written is not null then
    if not durable then perform set_config('synchronous_commit', 'off', true); end if;
    insert into ${limits} as l (name, version, cells, reset_at, refunded_at, kept_until)
    select g.name, 0, '{}', 0, 0, started from unnest(names, groups) as g (name, part)
    where g.part = any (written) order by g.name collate "C"
    on conflict (name) do update set version = l.version where false;
    locked_at := extract(epoch from clock_timestamp()) * 1000;
    select refused || coalesce(array_agg(g.part), '{}') into refused
    from unnest(names, groups, versions, until) as g (name, part, version, until)
    left join ${limits} as l on l.name = g.name
    where g.part = any (written) and (coalesce(l.version, 0) <> g.version or locked_at > g.until);
    if cardinality(ids) > 0 then
      select json_agg(json_build_array(c.id, c.name, c.moved)), refused || coalesce(array_agg(g.part), '{}')
      into repeated, refused
      from unnest(ids, id_names, id_groups) as g (id, name, part)
      join ${commands} as c on c.id = g.id and c.name = g.name
      where g.part = any (written);
      insert into ${commands} (id, name, moved, kept_until)
      select g.id, g.name, g.moved, locked_at + ${REMEMBERED_MS}
      from unnest(ids, id_names, id_groups, moved) as g (id, name, part, moved) where g.part <> all (refused);
    end if;
    update ${limits} as l set
      version = next_version,
      cells = g.cells::float8[],
      reset_at = g.reset_at,
      refunded_at = g.refunded_at,
      kept_until = case when l.kept_until >= locked_at + g.life then l.kept_until
        else locked_at + 2 * g.life + ${SLACK_MS} end
    from unnest(names, groups, new_cells, lives, resets, refunds)
      as g (name, part, cells, life, reset_at, refunded_at)
    where l.name = g.name and g.cells is not null and g.part <> all (refused);
  end if;
  return json_build_object(
    'now', extract(epoch from clock_timestamp()) * 1000, 'since', lost_before, 'refused', refused,
    'repeated', repeated, 'rows', (
      select json_agg(json_build_array(g.place, l.version::text, l.cells, l.reset_at, l.refunded_at))
      from unnest(names, groups) with ordinality as g (name, part, place)
      join ${limits} as l on l.name = g.name where g.part = any (refused)
    ))::text;
end $turn$;`
}
