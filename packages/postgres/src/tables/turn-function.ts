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
 * `locked` (whether a key of its group is written), `lives` in ms, `resets`, `refunds`, and `until`, the deadline in
 * server time (null: none); `assumed`, the time of the decisions (null: not checked); `next_version`, unique; for each
 * adjustment `ids`, `id_names`, `id_groups` and `moved` units; `durable`.
 *
 * Rows are locked in the order of their names by one statement, which also inserts missing rows, so that two calls
 * cannot wait for each other. A group that is only compared locks nothing. A single key is compared and written by one
 * statement. Returns a JSON text, see `TurnReply`.
 */
export function turnFunction({ limits, commands, epoch, turn }: TurnNames): string {
  return `create function ${turn}(
  names text[], groups int[], versions bigint[], new_cells text[], locked boolean[], lives float8[], resets float8[],
  refunds float8[], until float8[], assumed float8, next_version bigint, ids text[], id_names text[], id_groups int[],
  moved float8[], durable boolean
) returns text language plpgsql volatile
set jit = off set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $turn$
#variable_conflict use_column
declare
  started float8 := extract(epoch from clock_timestamp()) * 1000;
  locked_at float8 := started;
  lost_before float8;
  refused int[] := '{}';
  repeated json;
  row_version bigint;
begin
  select since into lost_before from ${epoch};
  if lost_before is null then
    insert into ${epoch} values (true, started) on conflict do nothing;
    select since into lost_before from ${epoch};
  end if;
  if true = any (locked) and not durable then perform set_config('synchronous_commit', 'off', true); end if;
  if abs(started - assumed) > ${MAX_CLOCK_ERROR_MS} then
    refused := groups;
  elsif cardinality(names) = 1 and cardinality(ids) = 0 then
    select version into row_version from ${limits} where name = names[1];
    if coalesce(row_version, 0) <> versions[1] or started > until[1] then
      refused := groups;
    elsif locked[1] and row_version is null then
      insert into ${limits} (name, version, cells, reset_at, refunded_at, kept_until)
      values (names[1], next_version, new_cells[1]::float8[], resets[1], refunds[1],
        started + 2 * lives[1] + ${SLACK_MS})
      on conflict (name) do nothing;
      if not found then refused := groups; end if;
    elsif locked[1] then
      update ${limits} set
        version = next_version, cells = new_cells[1]::float8[], reset_at = resets[1], refunded_at = refunds[1],
        kept_until = case when kept_until >= started + lives[1] then kept_until
          else started + 2 * lives[1] + ${SLACK_MS} end
      where name = names[1] and version = row_version
        and (until[1] is null or extract(epoch from clock_timestamp()) * 1000 <= until[1]);
      if not found then refused := groups; end if;
    end if;
  else
    select coalesce(array_agg(distinct g.part), '{}') into refused
    from unnest(names, groups, versions, until) as g (name, part, version, until)
    left join ${limits} as l on l.name = g.name
    where coalesce(l.version, 0) <> g.version or started > g.until;
    if true = any (locked) then
      insert into ${limits} as l (name, version, cells, reset_at, refunded_at, kept_until)
      select g.name, 0, '{}', 0, 0, started from unnest(names, groups, locked) as g (name, part, locked)
      where g.locked and g.part <> all (refused) order by g.name collate "C"
      on conflict (name) do update set version = l.version where false;
      locked_at := extract(epoch from clock_timestamp()) * 1000;
      select refused || coalesce(array_agg(g.part), '{}') into refused
      from unnest(names, groups, versions, locked, until) as g (name, part, version, locked, until)
      left join ${limits} as l on l.name = g.name
      where g.locked and g.part <> all (refused) and (coalesce(l.version, 0) <> g.version or locked_at > g.until);
    end if;
    if cardinality(ids) > 0 then
      select json_agg(json_build_array(c.id, c.name, c.moved)), refused || coalesce(array_agg(g.part), '{}')
      into repeated, refused
      from unnest(ids, id_names, id_groups) as g (id, name, part)
      join ${commands} as c on c.id = g.id and c.name = g.name
      where g.part <> all (refused);
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
  if cardinality(refused) = 0 then
    return '{"now":' || extract(epoch from clock_timestamp()) * 1000 || ',"since":' || lost_before || '}';
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
