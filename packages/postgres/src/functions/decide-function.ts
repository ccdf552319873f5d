import { isUsable, UNUSED } from './algorithm-functions.ts'
import { type FunctionNames, SIMULATED_EXTRA_MS, SLACK_MS } from './function-names.ts'
import { chargeSize, requestBlock } from './request-block.ts'

/**
 * The function that decides all requests of one statement.
 *
 * \`deadline\`: time of the server in ms after which nothing is counted, or null. \`given\`: time to use instead of the
 * server's, or null. \`keys\`: the stored keys without duplicates. \`ids\`: the idempotency id of each adjustment, or ''. \`g\`: the
 * number of policies; for each policy the number of its numbers and the numbers, see \`policyNumbers\`; then for each
 * request: 0 (take), 1 (peek), 2 (adjust) or 3 (reset); the time of the take that is adjusted; the number of charges;
 * and for each charge: the number of its key, the number of its policy, its cost (of a reset the ms for which earlier
 * usage of the key may be reported), and 0 (enforced) or 1 (advisory), plus 2 if seven
 * numbers of prior usage follow, see \`knownNumbers\`, plus 4 if three numbers of a hold follow, see \`holdNumbers\`.
 *
 * Returns 'late' and the time if the deadline has passed. Otherwise the time; the time before which counts may have
 * been lost; and for each charge, for an adjustment first the units that were applied, and always the remaining units,
 * the wait, resetAfterMs and availableAfterMs in ms. A request with unusable cells is '!' instead.
 *
 * Requests that cannot change anything, such as denied takes, are decided without a lock from the committed cells. All
 * other keys are locked in the order of their lock numbers, so that statements cannot deadlock, and are read again.
 */
export function decideFunction({ schema, epoch, lockSeed }: FunctionNames): string {
  return `
create or replace function ${schema}.limit1_decide(
  deadline float8, given float8, durable boolean, keys text[], ids text[], g float8[]
) returns text language plpgsql volatile set enable_seqscan = off as $$
declare
  clock float8;
  now float8;
  lost_before float8;
  key_count int := cardinality(keys);
  policies ${schema}.limit1_cells[] := '{}';
  cells ${schema}.limit1_cells[] := '{}';
  stored boolean[] := '{}';
  needed boolean[] := array_fill(false, array[key_count]);
  usable boolean[] := array_fill(null::boolean, array[key_count]);
  -- by key: the policy that counts it, which becomes the policy that wrote it last
  policy_of int[] := array_fill(0, array[key_count]);
  dirty boolean[] := array_fill(false, array[key_count]);
  starts int[] := '{}';
  answers text[] := '{}';
  at int := 2;
  request int := 0;
  op int;
  charges int;
  k int;
  kind int;
  cost float8;
  p float8[];
  wait_ms float8;
  waits float8[];
  needs float8[];
  place int;
  taken_at float8;
  released float8;
  may_take boolean;
  all_fit boolean;
  is_partial boolean;
  unspent text[] := '{}';
  seen_keys int[];
  done_names text[] := '{}';
  writes boolean;
  any_needed boolean := false;
  is_usable boolean;
  n_policy int;
  is_changed boolean;
  is_done boolean;
  answer text;
  moved float8;
  adjusted float8[];
  lock_number bigint;
  lives float8[] := '{}';
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'limits need the isolation level read committed' using errcode = '0A000';
  end if;
  select since into lost_before from ${epoch} where sole;
  if lost_before is null then lost_before := ${schema}.limit1_new_epoch(); end if;
  for i in 1 .. g[1]::int loop
    policies[i].c := g[at + 1 : at + g[at]::int];
    at := at + 1 + g[at]::int;
  end loop;

  for phase in 1 .. 2 loop
    if phase = 2 then
      exit when not any_needed;
      for lock_number in
        select distinct hashtextextended(keys[n], ${lockSeed}) as h from generate_series(1, key_count) n
        where needed[n] order by h
      loop
        perform pg_advisory_xact_lock(lock_number);
      end loop;
      if not durable and set_config('synchronous_commit', 'off', true) is null then end if;
    end if;
    if key_count = 1 then
      select l.cells into p from ${schema}.limits l where l.name = keys[1];
      stored[1] := found;
      cells[1].c := coalesce(p, '{}');
    else
      select array_agg(row(coalesce(l.cells, '{}'))::${schema}.limit1_cells order by u.n),
        array_agg(l.cells is not null order by u.n) into cells, stored
      from unnest(keys) with ordinality u(name, n)
      left join lateral (select x.cells from ${schema}.limits x where x.name = u.name offset 0) l on true;
    end if;
    if phase = 2 then
      for n in 1 .. key_count loop
        continue when stored[n] or not needed[n];
        p := policies[policy_of[n]].c;
        cells[n].c := ${UNUSED};
      end loop;
    end if;
    clock := date_part('epoch', clock_timestamp()) * 1000;
    if clock > deadline then return 'late ' || clock || ' ' || lost_before; end if;
    now := coalesce(given, clock);
    if given is not null then clock := clock + ${SIMULATED_EXTRA_MS}; end if;

    if phase = 1 then
      while at <= cardinality(g) loop
        request := request + 1;
        starts[request] := at;
        op := g[at];
        charges := g[at + 2];
        at := at + 3;
        writes := op > 1;
        may_take := op = 0;
        any_needed := any_needed or writes;
        for j in 1 .. charges loop
          k := g[at];
          n_policy := g[at + 1];
          p := policies[n_policy].c;
          cost := g[at + 2];
          kind := g[at + 3];
          if policy_of[k] = 0 then
            policy_of[k] := n_policy;
            if not stored[k] then cells[k].c := ${UNUSED}; end if;
            usable[k] := ${isUsable('cells[k].c')};
          end if;
          writes := writes or (op = 0 and kind % 4 > 1);
          if may_take and not writes and cost > 0 and kind = 0 then
            may_take := usable[k] and ${schema}.limit1_wait(p, cells[k].c, now, cost) = 0;
          end if;
          at := at + ${chargeSize('kind')};
        end loop;
        if writes or may_take then
          any_needed := true;
          at := starts[request] + 3;
          for j in 1 .. charges loop
            needed[g[at]::int] := true;
            at := at + ${chargeSize('g[at + 3]::int')};
          end loop;
        end if;
      end loop;
    end if;

    for r in 1 .. request loop
      continue when answers[r] is not null;
      at := starts[r];
      op := g[at];
      charges := g[at + 2];
      if phase = 1 and any_needed then
        writes := false;
        at := at + 3;
        for j in 1 .. charges loop
          writes := writes or needed[g[at]::int];
          at := at + ${chargeSize('g[at + 3]::int')};
        end loop;
        if writes then
          at := starts[r] + 3;
          for j in 1 .. charges loop
            needed[g[at]::int] := true;
            at := at + ${chargeSize('g[at + 3]::int')};
          end loop;
          continue;
        end if;
        at := starts[r];
      end if;

      at := at + 3;
      if op = 0 and charges = 1 and g[at + 3] = 0 then
        k := g[at];
        if usable[k] then
          n_policy := g[at + 1];
          p := policies[n_policy].c;
          cost := g[at + 2];
          wait_ms := ${schema}.limit1_wait(p, cells[k].c, now, cost);
          if wait_ms = 0 and cost > 0 then
            cells[k].c := ${schema}.limit1_spend(p, cells[k].c, now, cost);
            dirty[k] := true;
            policy_of[k] := n_policy;
          end if;
          answers[r] := ${schema}.limit1_verdict(p, cells[k].c, now, cost, wait_ms);
        else
          answers[r] := '!';
        end if;
        continue;
      end if;

${requestBlock(schema)}    end loop;
  end loop;

  for n in 1 .. key_count loop
    if dirty[n] then
      lives[n] := ceil(${schema}.limit1_kept(policies[policy_of[n]].c, cells[n].c, now));
    end if;
  end loop;
  if any_needed then
    insert into ${schema}.limits as l (name, cells, kept_until)
      select keys[n], cells[n].c, clock + 2 * lives[n] + ${SLACK_MS} from generate_series(1, key_count) n where dirty[n]
      on conflict (name) do update set cells = excluded.cells,
      kept_until = case when l.kept_until >= (excluded.kept_until - ${SLACK_MS} + clock) / 2 then l.kept_until
        else excluded.kept_until end;
    perform ${schema}.limit1_end_in_time(deadline);
  end if;
  return now || ' ' || lost_before || ' ' || array_to_string(answers, ' ');
end
$$;`
}
