import type { FunctionNames } from './function-names.ts'

/** Functions that read the cells of windows. Their results equal those of the algorithms in limiter-core. */
export function windowFunctions({ schema }: FunctionNames): string {
  return `
create or replace function ${schema}.limit1_unit_ms(
  window_ms float8, start_at float8, previous float8, last_at float8, now float8
) returns float8 language plpgsql immutable as $$
declare
  at float8 := greatest(now, start_at);
begin
  if at >= last_at + window_ms then return 0; end if;
  if previous < 0 then return -previous * window_ms; end if;
  return previous * (start_at + window_ms - at);
end
$$;

create or replace function ${schema}.limit1_roll(window_ms float8, c float8[], now float8)
returns float8[] language plpgsql immutable as $$
declare
  start_at float8 := c[1];
  current_units float8 := c[2];
  previous float8 := c[3];
  last_at float8 := c[4];
  ends_at float8 := start_at + window_ms;
begin
  if now >= ends_at then
    if previous <> 0 then last_at := start_at + window_ms; end if;
    start_at := ends_at;
    previous := current_units;
    current_units := 0;
  end if;
  if current_units = 0 and (now >= ends_at + window_ms
    or ${schema}.limit1_unit_ms(window_ms, start_at, previous, last_at, now) = 0) then
    start_at := now;
    previous := 0;
  end if;
  return array[start_at, current_units, previous, last_at];
end
$$;

create or replace function ${schema}.limit1_settle(window_ms float8, c float8[], now float8)
returns float8[] language plpgsql immutable as $$
begin
  c := ${schema}.limit1_roll(window_ms, c, now);
  if c[3] <> 0 and ${schema}.limit1_unit_ms(window_ms, c[1], c[3], c[4], now) = 0 then
    c[3] := 0;
    c[4] := greatest(now, c[1]);
  end if;
  return c;
end
$$;

create or replace function ${schema}.limit1_rolled_slices(p float8[], c float8[], now float8)
returns float8[] language plpgsql immutable as $$
declare
  kept int := p[4] + 1;
  passed float8 := greatest(0, floor((now - c[1]) / p[5]));
  rolled float8[];
  gone int;
begin
  if passed = 0 then return c; end if;
  rolled := array_fill(0::float8, array[kept + 1]);
  rolled[1] := c[1] + passed * p[5];
  if passed < kept then
    gone := passed;
    rolled[gone + 2 : kept + 1] := c[2 : kept + 1 - gone];
  end if;
  return rolled;
end
$$;

create or replace function ${schema}.limit1_sum_slices(rolled float8[])
returns float8 language plpgsql immutable as $$
declare
  units float8 := 0;
begin
  for i in 2 .. cardinality(rolled) loop units := units + rolled[i]; end loop;
  return units;
end
$$;

create or replace function ${schema}.limit1_expired(window_ms float8, c float8[], now float8)
returns int language plpgsql immutable as $$
declare
  gone int := 0;
begin
  while gone < cardinality(c) and c[gone + 1] + window_ms <= now loop gone := gone + 1; end loop;
  return gone;
end
$$;`
}
