import type { FunctionNames } from './function-names.ts'

/**
 * Functions that adjust earlier takes. They return the units that were applied, 1 if another variant of the policy was
 * changed, otherwise 0, and the changed cells.
 */
export function adjustFunctions({ schema }: FunctionNames): string {
  return `
create or replace function ${schema}.limit1_move_previous(
  start_at float8, previous float8, last_at float8, now float8, units float8, taken_at float8
) returns float8[] language plpgsql immutable as $$
declare
  before float8 := abs(previous);
  after float8 := greatest(0, before + units);
begin
  if units > 0 then
    last_at := case when before = 0 then taken_at else greatest(last_at, taken_at) end;
  elsif before > 0 and after = 0 then
    last_at := greatest(now, start_at);
  end if;
  return array[case when previous < 0 then -after else after end, last_at, after - before];
end
$$;

create or replace function ${schema}.limit1_adjust_epochs(
  p float8[], c float8[], now float8, units float8, taken_at float8
) returns float8[] language plpgsql immutable as $$
declare
  rolled float8[] := ${schema}.limit1_settle(p[3], c, now);
  moved float8;
  before float8;
  rest float8[];
begin
  if taken_at <= greatest(now, rolled[1]) - p[3] then return array[0, 0] || c; end if;
  if rolled[2] = 0 and rolled[3] = 0 then
    if units < 0 then return array[0, 0] || c; end if;
    rolled[1] := taken_at;
    rolled[4] := taken_at;
  end if;
  if taken_at >= rolled[1] then
    before := rolled[2];
    rolled[2] := greatest(0, before + units);
    moved := rolled[2] - before;
    if units > 0 and rolled[3] = 0 then
      rolled[4] := case when before = 0 then taken_at else greatest(rolled[4], taken_at) end;
    end if;
  else
    rest := ${schema}.limit1_move_previous(rolled[1], rolled[3], rolled[4], now, units, taken_at);
    rolled[3] := rest[1];
    rolled[4] := rest[2];
    moved := rest[3];
  end if;
  if moved > units and rolled[3] < 0 then
    rest := ${schema}.limit1_move_previous(rolled[1], rolled[3], rolled[4], now, units - moved, taken_at);
    rolled[3] := rest[1];
    rolled[4] := rest[2];
    moved := moved + rest[3];
  end if;
  if moved = 0 then return array[0, 0] || c; end if;
  return array[moved, 0] || rolled;
end
$$;

create or replace function ${schema}.limit1_adjust_slices(
  p float8[], c float8[], now float8, units float8, taken_at float8
) returns float8[] language plpgsql immutable as $$
declare
  rolled float8[] := ${schema}.limit1_rolled_slices(p, c, now);
  age float8;
  before float8;
begin
  if ${schema}.limit1_sum_slices(rolled) = 0 then
    if units < 0 then return array[0, 0] || c; end if;
    rolled[1] := taken_at + greatest(0, floor((now - taken_at) / p[5])) * p[5];
  end if;
  age := 1 + greatest(0, ceil((rolled[1] - taken_at - 0.001) / p[5]));
  if age > p[4] + 1 then return array[0, 0] || c; end if;
  before := rolled[age::int + 1];
  rolled[age::int + 1] := greatest(0, before + units);
  return array[rolled[age::int + 1] - before, 0] || rolled;
end
$$;

create or replace function ${schema}.limit1_adjust_log(
  p float8[], c float8[], now float8, units float8, taken_at float8
) returns float8[] language plpgsql immutable as $$
declare
  place int := 1;
  before int;
  fitting int;
begin
  if taken_at + p[3] <= now then return array[0, 0] || c; end if;
  c := c[${schema}.limit1_expired(p[3], c, now) + 1 :];
  before := cardinality(c);
  while place <= before and c[place] < taken_at loop place := place + 1; end loop;
  if units > 0 then
    fitting := greatest(0, least(units, p[4] - before + (case when p[5] = 1 then place - 1 else 0 end)));
    c := c[: place - 1] || array_fill(taken_at, array[fitting]) || c[place :];
    if cardinality(c) > p[4] then c := c[cardinality(c) - p[4]::int + 1 :]; end if;
    return array[fitting, 0] || c;
  end if;
  if p[5] = 1 and before = p[4] then return array[0, 0] || c; end if;
  fitting := least(before, -units);
  if place > before and taken_at >= now then
    c := c[: before - fitting];
  else
    while fitting > 0 and c[place] = taken_at loop
      c := c[: place - 1] || c[place + 1 :];
      fitting := fitting - 1;
    end loop;
  end if;
  return array[cardinality(c) - before, 0] || c;
end
$$;

create or replace function ${schema}.limit1_adjust(p float8[], c float8[], now float8, units float8, taken_at float8)
returns float8[] language plpgsql immutable as $$
declare
  used float8;
  moved float8;
  rest float8[];
begin
  case p[1]
  when 1 then
    used := case when now >= c[1] + p[3] then 0 else c[2] end;
    if units > 0 and used = 0 and (c[2] = 0 or taken_at >= c[1] + p[3]) and now < taken_at + p[3] then
      return array[units, 0, taken_at, units];
    end if;
    if used = 0 or taken_at < c[1] then return array[0, 0] || c; end if;
    c[2] := greatest(0, used + units);
    return array[c[2] - used, 0] || c;
  when 2 then
    return ${schema}.limit1_adjust_epochs(p, c, now, units, taken_at);
  when 3 then
    return ${schema}.limit1_adjust_slices(p, c, now, units, taken_at);
  when 4 then
    return ${schema}.limit1_adjust_log(p, c, now, units, taken_at);
  when 5 then
    used := greatest(0, c[1] - greatest(0, now - c[2]) * p[5]);
    moved := case when units > 0 then units
      else -least(used, greatest(0, -units - greatest(0, now - taken_at) * p[5])) end;
    if moved = 0 then return array[0, 0] || c; end if;
    c[1] := used + moved;
    c[2] := case when c[1] = 0 then 0 else greatest(now, c[2]) end;
    return array[moved, 0] || c;
  when 6 then
    used := case when c[1] = 0 then 0 else greatest(0, c[1] - now) end;
    moved := case when units > 0 then units * p[5]
      else -least(used, greatest(0, -units * p[5] - greatest(0, now - taken_at))) end;
    if moved = 0 then return array[0, 0] || c; end if;
    c[1] := case when used + moved = 0 then 0 else now + used + moved end;
    return array[case when units > 0 then units else moved / p[5] end, 0] || c;
  when 8 then
    rest := ${schema}.limit1_adjust(p[4:], c[11:], now, units, taken_at);
    return rest[1 : 2] || c[1 : 10] || rest[3 :];
  else
    return ${schema}.limit1_adjust_variants(p, c, now, units, taken_at);
  end case;
end
$$;`
}
