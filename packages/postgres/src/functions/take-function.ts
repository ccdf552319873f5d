import { type FunctionNames, SIMULATED_EXTRA_MS, SLACK_MS } from './function-names.ts'

/**
 * The function for a statement with a single take of one enforced charge without prior usage: the same result as the
 * function for many requests, in less time. If the cells have not changed since they were read without a lock, they are
 * not read again.
 */
export function takeFunction({ schema, epoch, lockSeed }: FunctionNames): string {
  return `
create or replace function ${schema}.limit1_take(
  deadline float8, given float8, durable boolean, of_name text, p float8[], cost float8
) returns text language plpgsql volatile set enable_seqscan = off as $$
declare
  c float8[];
  clock float8;
  now float8;
  lost_before float8;
  wait_ms float8;
  spent float8[];
  life float8;
  is_new boolean := false;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'limits need the isolation level read committed' using errcode = '0A000';
  end if;
  select since into lost_before from ${epoch} where sole;
  if lost_before is null then lost_before := ${schema}.limit1_new_epoch(); end if;
  select cells into c from ${schema}.limits where name = of_name;
  if c is null then
    c := ${schema}.limit1_unused(p);
    is_new := true;
  end if;
  clock := date_part('epoch', clock_timestamp()) * 1000;
  if clock > deadline then return 'late ' || clock || ' ' || lost_before; end if;
  now := coalesce(given, clock);
  if not ${schema}.limit1_is_usable(p, c) then return now || ' ' || lost_before || ' !'; end if;
  wait_ms := ${schema}.limit1_wait(p, c, now, cost);
  if wait_ms > 0 or cost = 0 then
    return now || ' ' || lost_before || ' ' || ${schema}.limit1_verdict(p, c, now, cost, wait_ms);
  end if;

  if pg_advisory_xact_lock(hashtextextended(of_name, ${lockSeed})) is null then end if;
  if not durable and set_config('synchronous_commit', 'off', true) is null then end if;
  clock := date_part('epoch', clock_timestamp()) * 1000;
  if clock > deadline then return 'late ' || clock || ' ' || lost_before; end if;
  now := coalesce(given, clock);
  if given is not null then clock := clock + ${SIMULATED_EXTRA_MS}; end if;
  wait_ms := ${schema}.limit1_wait(p, c, now, cost);
  if wait_ms = 0 and not is_new then
    spent := ${schema}.limit1_spend(p, c, now, cost);
    life := ceil(${schema}.limit1_kept(p, spent, now));
    update ${schema}.limits set cells = spent,
      kept_until = case when kept_until >= clock + life then kept_until else clock + 2 * life + ${SLACK_MS} end
      where name = of_name and cells = c;
    if found then
      perform ${schema}.limit1_end_in_time(deadline);
      return now || ' ' || lost_before || ' ' || ${schema}.limit1_verdict(p, spent, now, cost, 0);
    end if;
  end if;
  select cells into c from ${schema}.limits where name = of_name;
  c := coalesce(c, ${schema}.limit1_unused(p));
  wait_ms := ${schema}.limit1_wait(p, c, now, cost);
  if wait_ms = 0 then
    c := ${schema}.limit1_spend(p, c, now, cost);
    life := ceil(${schema}.limit1_kept(p, c, now));
    insert into ${schema}.limits as l (name, cells, kept_until) values (of_name, c, clock + 2 * life + ${SLACK_MS})
      on conflict (name) do update set cells = excluded.cells,
      kept_until = case when l.kept_until >= clock + life then l.kept_until else excluded.kept_until end;
    perform ${schema}.limit1_end_in_time(deadline);
  end if;
  return now || ' ' || lost_before || ' ' || ${schema}.limit1_verdict(p, c, now, cost, wait_ms);
end
$$;`
}
