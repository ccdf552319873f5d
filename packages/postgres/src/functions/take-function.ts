import { isUsable, UNUSED } from './algorithm-functions.ts'
import { type FunctionNames, SIMULATED_EXTRA_MS, SLACK_MS } from './function-names.ts'
import { algorithmBlocks } from './generated.ts'
import type { SqlAlgorithm } from './kinds.ts'

/** Parts of a function that depend on the algorithm. */
interface TakeParts {
  readonly name: string
  /** Sets `wait_ms`, `spent` if the units fit, and the variables that `life` and `verdict` read. */
  readonly take: string
  /** Ms until the cells are unused. */
  readonly life: string
  /** The numbers of a verdict as a text. */
  readonly verdict: string
}

/** Returns the name of the function that takes units of an algorithm, or of any policy. */
export function takeFunctionName(algorithm: SqlAlgorithm | undefined): string {
  return algorithm ? `limit1_take_${algorithm.replaceAll('-', '_')}` : 'limit1_take'
}

/**
 * Functions for a statement with a single take of one enforced charge without prior usage: the same result as the
 * function for many requests, in less time. If the cells have not changed since they were read without a lock, they are
 * not read again. The block of an algorithm runs without the lock and again with it: the second run takes a tenth of the
 * time, because its expressions are prepared.
 */
export function takeFunctions(names: FunctionNames): string {
  return [
    anyPolicy(names.schema),
    ...(Object.keys(algorithmBlocks) as SqlAlgorithm[]).map((name) => oneAlgorithm(names.schema, name)),
  ]
    .map((parts) => takeFunction(names, parts))
    .join('\n')
}

function oneAlgorithm(schema: string, algorithm: SqlAlgorithm): TakeParts {
  return {
    name: takeFunctionName(algorithm),
    take: algorithmBlocks[algorithm].take.replaceAll('$schema', schema),
    life: 'reset_ms',
    verdict: "units_left || ' ' || wait_ms || ' ' || reset_ms || ' ' || grows_ms",
  }
}

function anyPolicy(schema: string): TakeParts {
  return {
    name: takeFunctionName(undefined),
    take: `wait_ms := ${schema}.limit1_wait(p, c, now, cost);
if wait_ms = 0 and cost > 0 and round > 0 then spent := ${schema}.limit1_spend(p, c, now, cost); end if;`,
    life: `${schema}.limit1_kept(p, spent, now)`,
    verdict: `${schema}.limit1_verdict(p, coalesce(spent, c), now, cost, wait_ms)`,
  }
}

function takeFunction({ schema, epoch, lockSeed }: FunctionNames, parts: TakeParts): string {
  return `
create or replace function ${schema}.${parts.name}(
  deadline float8, given float8, durable boolean, of_name text, p float8[], cost float8
) returns text language plpgsql volatile set enable_seqscan = off as $$
declare
  c float8[];
  clock float8;
  now float8;
  lost_before float8;
  wait_ms float8;
  units_left float8;
  reset_ms float8;
  grows_ms float8;
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
    c := ${UNUSED};
    is_new := true;
  end if;
  -- without the lock, with the lock and the same cells, and with the cells as they are now
  for round in 0 .. 2 loop
    if round = 1 then
      if pg_advisory_xact_lock(hashtextextended(of_name, ${lockSeed})) is null then end if;
      if not durable and set_config('synchronous_commit', 'off', true) is null then end if;
    end if;
    if round < 2 then
      clock := date_part('epoch', clock_timestamp()) * 1000;
      if clock > deadline then return 'late ' || clock || ' ' || lost_before; end if;
      now := coalesce(given, clock);
      if given is not null then clock := clock + ${SIMULATED_EXTRA_MS}; end if;
      continue when round = 1 and is_new;
    else
      select cells into c from ${schema}.limits where name = of_name;
      c := coalesce(c, ${UNUSED});
      spent := null;
    end if;
    if round = 0 and not (${isUsable('c')}) then return now || ' ' || lost_before || ' !'; end if;
${parts.take}
    if wait_ms > 0 or cost = 0 then
      continue when round = 1;
      exit;
    end if;
    continue when round = 0;
    life := ceil(${parts.life});
    if round = 1 then
      update ${schema}.limits set cells = spent,
        kept_until = case when kept_until >= clock + life then kept_until else clock + 2 * life + ${SLACK_MS} end
        where name = of_name and cells = c;
      continue when not found;
    else
      insert into ${schema}.limits as l (name, cells, kept_until) values (of_name, spent, clock + 2 * life + ${SLACK_MS})
        on conflict (name) do update set cells = excluded.cells,
        kept_until = case when l.kept_until >= clock + life then l.kept_until else excluded.kept_until end;
    end if;
    perform ${schema}.limit1_end_in_time(deadline);
    exit;
  end loop;
  return now || ' ' || lost_before || ' ' || ${parts.verdict};
end
$$;`
}
